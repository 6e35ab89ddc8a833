import CZlib
import WebimageConsole

/// Decompresses gzip data that arrives in blocks: one or more members, as RFC 1952 allows.
///
/// Not `Sendable`: used by one reader.
@safe
final class Gunzip {
    /// The first bytes of gzip data.
    static let signature: [UInt8] = [0x1F, 0x8B]

    /// The maximum number of bytes returned at a time.
    private static let outputSize = 256 << 10

    /// The state of libz, at a fixed address because libz keeps a pointer to it.
    private let stream: UnsafeMutablePointer<z_stream>
    private let name: String
    private var input: ArraySlice<UInt8> = []
    /// A Boolean value that indicates whether a member has begun and not ended.
    private(set) var isInsideMember = false

    /// Creates a decompressor for the file called `name` in messages.
    init(name: String) throws(FileError) {
        self.name = name
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        // 16: with the header and the trailer of gzip.
        let status = unsafe inflateInit2_(stream, 16 + MAX_WBITS, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { throw FileError(description: "cannot decompress \(name)") }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// A Boolean value that indicates whether more input is needed.
    var needsInput: Bool { input.isEmpty }

    /// Provides the next block; the previous one must have been decompressed.
    func append(_ block: [UInt8]) { input = block[...] }

    /// Returns the next decompressed bytes; none if more input is needed.
    func next() throws(FileError) -> [UInt8] {
        while !input.isEmpty {
            if !isInsideMember {
                unsafe inflateReset(stream)
                isInsideMember = true
            }
            var output = [UInt8](repeating: 0, count: Self.outputSize)
            let (status, taken, produced) = unsafe input.withUnsafeBufferPointer { source in
                unsafe output.withUnsafeMutableBufferPointer { target in
                    unsafe stream.pointee.next_in = unsafe UnsafeMutablePointer(mutating: source.baseAddress)
                    unsafe stream.pointee.avail_in = UInt32(source.count)
                    unsafe stream.pointee.next_out = target.baseAddress
                    unsafe stream.pointee.avail_out = UInt32(target.count)
                    let status = unsafe inflate(stream, Z_NO_FLUSH)
                    return unsafe (
                        status, source.count - Int(stream.pointee.avail_in),
                        target.count - Int(stream.pointee.avail_out)
                    )
                }
            }
            input = input.dropFirst(taken)
            switch status {
            case Z_STREAM_END: isInsideMember = false
            case Z_OK: break
            default: throw FileError(description: "\(name) is not valid gzip data")
            }
            if produced > 0 { return Array(output.prefix(produced)) }
            if status == Z_OK, taken == 0 { throw FileError(description: "\(name) is not valid gzip data") }
        }
        return []
    }
}
