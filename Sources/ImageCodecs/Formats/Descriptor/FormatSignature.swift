/// The bytes at the beginning of a file that identify its format.
struct FormatSignature: Sendable {
    private let parts: [(bytes: [UInt8], offset: Int)]
    /// The number of leading bytes that it covers.
    let length: Int

    /// Creates a signature of `bytes` at the start of the file.
    init(_ bytes: [UInt8]) {
        self.init([(bytes, 0)])
    }

    /// Creates a signature of the characters of `text` at the start of the file.
    init(_ text: StaticString) {
        self.init([(text, 0)])
    }

    /// Creates a signature of characters at several offsets.
    init(_ parts: [(text: StaticString, offset: Int)]) {
        self.init(parts.map { part in (part.text.withUTF8Buffer { unsafe Array($0) }, part.offset) })
    }

    private init(_ parts: [(bytes: [UInt8], offset: Int)]) {
        self.parts = parts
        length = parts.map { $0.offset + $0.bytes.count }.max() ?? 0
    }

    /// Returns whether `beginning` contains the whole signature.
    func matches(_ beginning: Span<UInt8>) -> Bool {
        beginning.count >= length && agrees(with: beginning)
    }

    /// Returns whether `beginning` agrees with the signature as far as it reaches.
    func agrees(with beginning: Span<UInt8>) -> Bool {
        for (bytes, offset) in parts {
            for (index, byte) in bytes.enumerated() where offset + index < beginning.count {
                guard beginning[offset + index] == byte else { return false }
            }
        }
        return true
    }
}
