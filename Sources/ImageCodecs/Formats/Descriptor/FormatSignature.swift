/// The bytes at the beginning of a file that tell its format.
struct FormatSignature: Sendable {
    private let parts: [(bytes: [UInt8], offset: Int)]
    /// How many leading bytes it covers.
    let length: Int

    /// A signature of `bytes` at the start of the file.
    init(_ bytes: [UInt8]) {
        self.init([(bytes, 0)])
    }

    /// A signature of the characters of `text` at the start of the file.
    init(_ text: StaticString) {
        self.init([(text, 0)])
    }

    /// A signature of characters at several offsets.
    init(_ parts: [(text: StaticString, offset: Int)]) {
        self.init(parts.map { part in (part.text.withUTF8Buffer { unsafe Array($0) }, part.offset) })
    }

    private init(_ parts: [(bytes: [UInt8], offset: Int)]) {
        self.parts = parts
        length = parts.map { $0.offset + $0.bytes.count }.max() ?? 0
    }

    /// Returns whether `beginning` has all of it.
    func matches(_ beginning: Span<UInt8>) -> Bool {
        beginning.count >= length && agrees(with: beginning)
    }

    /// Returns whether `beginning` has all of it that fits.
    func agrees(with beginning: Span<UInt8>) -> Bool {
        for (bytes, offset) in parts {
            for (index, byte) in bytes.enumerated() where offset + index < beginning.count {
                guard beginning[offset + index] == byte else { return false }
            }
        }
        return true
    }
}
