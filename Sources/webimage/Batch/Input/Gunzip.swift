import HTTPTransport
import WebimageConsole

/// Decompresses gzip data that arrives in blocks: one or more members, as RFC 1952 allows.
///
/// Not `Sendable`: used by one reader.
final class Gunzip {
    /// The first bytes of gzip data.
    static let signature: [UInt8] = [0x1F, 0x8B]

    /// The maximum number of bytes returned at a time.
    private static let outputSize = 256 << 10

    private let inflater: Inflater
    private let name: String
    private var input: ArraySlice<UInt8> = []
    /// A Boolean value that indicates whether a member has begun and not ended.
    private(set) var isInsideMember = false

    /// Creates a decompressor for the file called `name` in messages.
    init(name: String) throws(FileError) {
        self.name = name
        guard let inflater = Inflater(.gzip) else { throw FileError(description: "cannot decompress \(name)") }
        self.inflater = inflater
    }

    /// Provides the next block; the previous one must have been decompressed.
    func append(_ block: [UInt8]) { input = block[...] }

    /// Returns the next decompressed bytes; none if more input is needed.
    func next() throws(FileError) -> [UInt8] {
        while !input.isEmpty {
            if !isInsideMember {
                inflater.reset()
                isInsideMember = true
            }
            var output = [UInt8](repeating: 0, count: Self.outputSize)
            var (taken, produced) = (0, 0)
            let status = inflater.inflate(input.span, at: &taken, to: &output, at: &produced)
            input = input.dropFirst(taken)
            switch status {
            case .atEnd: isInsideMember = false
            case .needsMore: break
            case .damaged: throw FileError(description: "\(name) is not valid gzip data")
            }
            if produced > 0 { return Array(output.prefix(produced)) }
            if status == .needsMore, taken == 0 { throw FileError(description: "\(name) is not valid gzip data") }
        }
        return []
    }
}
