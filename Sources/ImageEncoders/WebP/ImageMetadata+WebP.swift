import CWebPWriter
import ImageCodecs

extension ImageMetadata {
    /// Returns `file`, a WebP without metadata, with this metadata added.
    func embedded(inWebP file: [UInt8]) throws(CodecError) -> [UInt8] {
        try check(.webp)
        let profile = profileColors == .rgb ? colorProfile : nil
        guard profile != nil || exif != nil else { return file }
        let result = unsafe file.withUnsafeBufferPointer { bytes -> [UInt8]? in
            var image = unsafe WebPData(bytes: bytes.baseAddress, size: bytes.count)
            guard let mux = unsafe WebPMuxCreate(&image, 0) else { return nil }
            defer { unsafe WebPMuxDelete(mux) }
            for (name, data) in [("ICCP", profile), ("EXIF", exif)] {
                guard let data else { continue }
                let status = unsafe data.withUnsafeBufferPointer { data in
                    var chunk = unsafe WebPData(bytes: data.baseAddress, size: data.count)
                    return unsafe WebPMuxSetChunk(mux, name, &chunk, 1)
                }
                guard status == WEBP_MUX_OK else { return nil }
            }
            var output = unsafe WebPData()
            defer { unsafe WebPDataClear(&output) }
            guard unsafe WebPMuxAssemble(mux, &output) == WEBP_MUX_OK else { return nil }
            return unsafe Array(UnsafeBufferPointer(start: output.bytes, count: output.size))
        }
        guard let result else { throw .encodingFailed(.webp, "its metadata cannot be added") }
        return result
    }
}
