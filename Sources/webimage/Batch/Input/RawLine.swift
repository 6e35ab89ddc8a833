/// A line as it was read, without its end.
struct RawLine: Sendable, Equatable {
    /// The maximum number of bytes of a line; the rest of a longer one is discarded.
    static let longest = 1 << 20

    private(set) var bytes: [UInt8] = []
    /// The number of bytes of the whole line.
    private(set) var count = 0
    /// The first byte of the discarded ones that is not blank.
    private var firstBeyond: UInt8?

    /// A Boolean value that indicates whether the line is longer than allowed.
    var isCut: Bool { count > bytes.count }
    /// The first byte that is not blank; `nil` if the line has only blanks.
    var firstByte: UInt8? { bytes.first { !$0.isBlank } ?? firstBeyond }

    mutating func append(_ part: ArraySlice<UInt8>) {
        count += part.count
        let held = part.prefix(Self.longest - bytes.count)
        bytes += held
        if held.count < part.count { firstBeyond = firstBeyond ?? part[held.endIndex...].first { !$0.isBlank } }
    }

    /// Removes the carriage return at the end.
    mutating func removeReturn() {
        guard !isCut, bytes.last == UInt8(ascii: "\r") else { return }
        bytes.removeLast()
        count -= 1
    }
}

extension UInt8 {
    /// A Boolean value that indicates whether the byte is a space, a tab, or a line break.
    var isBlank: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
