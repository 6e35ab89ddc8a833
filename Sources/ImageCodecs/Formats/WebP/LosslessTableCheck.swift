/// Checks that the tables of an image's lossless chunks stay within a memory limit, before libwebp reads the chunks.
struct LosslessTableCheck {
    /// A Boolean value that indicates whether libwebp may read the chunks.
    private(set) var hasPassed = false

    private let size: PixelSize
    private let limit: Int
    /// The start of the current chunk.
    private var offset = 0
    private var tables: LosslessTables

    /// Creates a check of an image of `size`, whose tables may take `limit` bytes.
    init(size: PixelSize, limit: Int) {
        self.size = size
        self.limit = limit
        tables = LosslessTables(size: size)
    }

    /// Continues the check with `chunks`, all chunks of the image received so far; does nothing after it has passed.
    ///
    /// Throws `corrupt` and `overLimit`.
    mutating func read(_ chunks: Span<UInt8>) throws(CodecError) {
        while !hasPassed, let length = chunks.littleEndian32(at: offset + 4) {
            let data = offset + 8
            if chunks.has("ALPH", at: offset) {
                guard try passAlpha(chunks, from: data, to: data + length) else { return }
                offset = data + length + length & 1
                tables = LosslessTables(size: size)
            } else if chunks.has("VP8L", at: offset) {
                // The size comes first and has been compared.
                hasPassed = try pass(chunks, from: data + 5, to: chunks.count)
                return
            } else {
                hasPassed = true
            }
        }
    }

    /// Reads the alpha data in a part of `chunks`; returns `false` if more bytes are needed.
    private mutating func passAlpha(_ chunks: Span<UInt8>, from start: Int, to end: Int) throws(CodecError) -> Bool {
        guard start < end else { return true }
        guard let method = chunks.byte(at: start) else { return false }
        guard method & 3 == 1 else { return true }
        if try pass(chunks, from: start + 1, to: min(end, chunks.count)) { return true }
        guard chunks.count < end else { throw .corrupt(.webp, "the alpha data ends early") }
        return false
    }

    /// Reads the bitstream in a part of `chunks`; returns `false` if more bytes are needed.
    private mutating func pass(_ chunks: Span<UInt8>, from start: Int, to end: Int) throws(CodecError) -> Bool {
        guard start < end else { return false }
        try tables.read(chunks.extracting(start..<end))
        guard let bytes = tables.bytes else { return false }
        guard bytes <= limit else { throw .overLimit(.memory, value: bytes, limit: limit) }
        return true
    }
}

extension LosslessTables {
    /// The maximum size of the tables of any image, in bytes.
    ///
    /// libwebp's encoder makes up to 2,600 groups of codes, which take 43 MB.
    static let maximumBytes = 48 << 20

    /// Returns the maximum size of the tables of an image, alpha included, or of a frame of an animation, in bytes,
    /// for this number of compressed bytes.
    ///
    /// An encoder chooses more codes only if that saves bytes. Images designed to have as many as possible needed 40
    /// bytes of tables per compressed byte in measurements of libwebp's encoder, ordinary images less than 10.
    static func limit(compressedBytes: Int) -> Int {
        min(maximumBytes, 2 << 20 + max(0, min(compressedBytes, maximumBytes)) * 64)
    }
}
