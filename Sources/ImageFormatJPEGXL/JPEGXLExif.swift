#if JPEGXL
import CJXL
import ImageCodecs

/// Reads the Exif data of a file, which can be compressed.
enum JPEGXLExif {
    /// The size by which the memory for the data grows, in bytes.
    private static let step = 64 << 10

    /// Returns the data without the offset that precedes it; `nil` if there is none.
    static func read(_ file: Span<UInt8>) throws(CodecError) -> [UInt8]? {
        let decoder = try JPEGXLDecoder(JXL_DEC_BOX)
        try decoder.check(unsafe JxlDecoderSetDecompressBoxes(decoder.handle, 1))
        // libjxl writes to the same place until the box ends.
        let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: ImageMetadata.maximumBytes)
        defer { unsafe memory.deallocate() }
        var count = 0
        var granted = 0
        var isInside = false
        func grant() throws(CodecError) {
            granted = min(step, memory.count - count)
            guard granted > 0 else { throw .unsupportedFeature(.jpegXL, "Exif data of this size") }
            let start = unsafe memory.baseAddress.map { unsafe $0 + count }
            try decoder.check(unsafe JxlDecoderSetBoxBuffer(decoder.handle, start, granted))
        }
        func release() { unsafe count += granted - JxlDecoderReleaseBoxBuffer(decoder.handle) }

        try decoder.append(file) { (event) throws(CodecError) in
            if event == JXL_DEC_BOX_NEED_MORE_OUTPUT {
                release()
                try grant()
                return true
            }
            guard event == JXL_DEC_BOX else { return true }
            // The box has ended.
            if isInside { return false }
            var type: (CChar, CChar, CChar, CChar) = (0, 0, 0, 0)
            let isKnown = unsafe withUnsafeMutablePointer(to: &type) { type in
                unsafe type.withMemoryRebound(to: CChar.self, capacity: 4) { name in
                    unsafe JxlDecoderGetBoxType(decoder.handle, name, 1)
                }
            }
            let name = [type.0, type.1, type.2, type.3].map(UInt8.init(bitPattern:))
            guard isKnown == JXL_DEC_SUCCESS, name.elementsEqual("Exif".utf8) else { return true }
            isInside = true
            try grant()
            return true
        }
        guard isInside else { return nil }
        release()
        let data = unsafe UnsafeBufferPointer(memory).span
        guard count > 4, let offset = data.bigEndian32(at: 0), offset <= count - 4 else { return nil }
        return Array(copying: data.extracting(4 + offset..<count))
    }
}
#endif
