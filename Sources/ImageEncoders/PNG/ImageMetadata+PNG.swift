import CPNGWriter
import ImageCodecs

extension ImageMetadata {
    /// Returns the chunks that contain the metadata, to insert after `IHDR`; `isGray` indicates a grayscale file.
    func pngChunks(isGray: Bool) throws(CodecError) -> [UInt8] {
        try check(.png)
        var chunks: [UInt8] = []
        // Only a grayscale profile is valid in a grayscale file, and only a color profile in others.
        if let profile = usableProfile(isGray: isGray), (profileColors == .gray) == isGray {
            guard let compressed = Self.compressed(profile) else { throw .encodingFailed(.png, "out of memory") }
            chunks.append(pngChunk: "iCCP", Array("ICC profile".utf8) + [0, 0], compressed.span)
        }
        if let exif { chunks.append(pngChunk: "eXIf", [], exif.span) }
        return chunks
    }

    /// Returns `bytes` compressed, or `nil` if there is not enough memory.
    static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
        var file = unsafe cpng_file()
        defer { unsafe cpng_file_free(&file) }
        let isDone = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe cpng_deflate(&file, bytes.baseAddress, bytes.count)
        }
        guard isDone else { return nil }
        return unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }
}
