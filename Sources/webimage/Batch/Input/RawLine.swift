/// A line as it was read, without its end.
struct RawLine: Sendable, Equatable {
    /// The maximum number of bytes of a line; the rest of a longer one is discarded.
    static let longest = 1 << 20

    private(set) var bytes: [UInt8] = []
    /// The number of bytes of the whole line.
    private(set) var count = 0
    private var isBlankBeyond = true

    /// A Boolean value that indicates whether the line is longer than allowed.
    var isCut: Bool { count > bytes.count }
    /// A Boolean value that indicates whether the line has only blanks.
    var isBlank: Bool { isBlankBeyond && bytes.allSatisfy(\.isBlank) }

    mutating func append(_ part: ArraySlice<UInt8>) {
        count += part.count
        let held = part.prefix(Self.longest - bytes.count)
        bytes += held
        if held.count < part.count, isBlankBeyond { isBlankBeyond = part[held.endIndex...].allSatisfy(\.isBlank) }
    }

    /// Removes the carriage return at the end and, if `mark` is `true`, a byte order mark at the beginning.
    mutating func trim(mark: Bool) {
        if !isCut, bytes.last == UInt8(ascii: "\r") {
            bytes.removeLast()
            count -= 1
        }
        if mark, bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            bytes.removeFirst(3)
            count -= 3
        }
    }
}

extension UInt8 {
    /// A Boolean value that indicates whether the byte is a space, a tab, or a line break.
    var isBlank: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
