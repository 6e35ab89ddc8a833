import CPNGWriter
import ImageCodecs

extension ImageMetadata {
    /// The chunks that hold what there is, to stand behind `IHDR`; `isGrey` says whether the file has no colors.
    func pngChunks(isGrey: Bool) throws(CodecError) -> [UInt8] {
        try check(.png)
        var chunks: [UInt8] = []
        // In a gray file, only a gray profile counts, and in others only one of colors.
        if let profile = usableProfile(isGrey: isGrey), (profileColors == .grey) == isGrey {
            guard let compressed = Self.compressed(profile) else { throw .encodingFailed(.png, "out of memory") }
            chunks.append(pngChunk: "iCCP", Array("ICC profile".utf8) + [0, 0], compressed.span)
        }
        if let exif { chunks.append(pngChunk: "eXIf", [], exif.span) }
        return chunks
    }

    /// `bytes` compressed; nil without memory.
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
