#if JPEGXL
import CJXL
import ImageCodecs

/// Owns an encoder of libjxl for one image.
@safe
final class JPEGXLWriter {
    private let encoder: OpaquePointer

    init() throws(CodecError) {
        guard let encoder = unsafe JxlEncoderCreate(nil) else { throw .encodingFailed(.jpegXL, "out of memory") }
        unsafe self.encoder = encoder
    }

    deinit {
        unsafe JxlEncoderDestroy(encoder)
    }

    private func check(_ status: JxlEncoderStatus, _ step: String) throws(CodecError) {
        guard status == JXL_ENC_SUCCESS else {
            throw .encodingFailed(.jpegXL, "\(step) (error \(unsafe JxlEncoderGetError(encoder).rawValue) of libjxl)")
        }
    }

    func setInformation(_ information: JxlBasicInfo, colorProfile: [UInt8]?) throws(CodecError) {
        var information = information
        // The side or the bits can exceed those of the lowest level.
        let level = unsafe JxlEncoderSetBasicInfo(encoder, &information)
        try check(level, "the size")
        if let colorProfile, colorProfile.span.has("RGB ", at: 16) {
            try check(unsafe JxlEncoderSetICCProfile(encoder, colorProfile, colorProfile.count), "the color profile")
        } else {
            var colors = JxlColorEncoding()
            unsafe JxlColorEncodingSetToSRGB(&colors, 0)
            try check(unsafe JxlEncoderSetColorEncoding(encoder, &colors), "the colors")
        }
        if unsafe JxlEncoderGetRequiredCodestreamLevel(encoder) == 10 {
            try check(unsafe JxlEncoderSetCodestreamLevel(encoder, 10), "the level")
        }
    }

    /// Adds Exif data, which a number precedes: the place of the data.
    func addExif(_ exif: [UInt8]) throws(CodecError) {
        try check(unsafe JxlEncoderUseBoxes(encoder), "the metadata")
        let contents = [0, 0, 0, 0] + exif
        let name = "Exif".utf8.map { CChar(bitPattern: $0) }
        try check(unsafe JxlEncoderAddBox(encoder, name, contents, contents.count, 0), "the Exif data")
        unsafe JxlEncoderCloseBoxes(encoder)
    }

    /// Adds the pixels; `distance` is `nil` for lossless encoding.
    func addImage(_ pixels: PixelBuffer, isOpaque: Bool, distance: Float?, effort: Int) throws(CodecError) {
        guard let settings = unsafe JxlEncoderFrameSettingsCreate(encoder, nil) else {
            throw .encodingFailed(.jpegXL, "out of memory")
        }
        if let distance {
            try check(unsafe JxlEncoderSetFrameDistance(settings, distance), "the quality")
        } else {
            try check(unsafe JxlEncoderSetFrameLossless(settings, 1), "lossless encoding")
        }
        try check(
            unsafe JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, Int64(effort)), "the effort"
        )
        // Colors of transparent pixels are kept only if nothing may change.
        let keepsInvisible: Int64 = distance == nil ? 1 : 0
        try check(
            unsafe JxlEncoderFrameSettingsSetOption(
                settings, JXL_ENC_FRAME_SETTING_KEEP_INVISIBLE, keepsInvisible), "transparency")
        var layout = JxlPixelFormat(
            num_channels: isOpaque ? 3 : 4, data_type: pixels.format == .rgba16 ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8,
            endianness: JXL_NATIVE_ENDIAN, align: 0)
        let bytes = isOpaque ? pixels.bytesWithoutAlpha : pixels.bytes
        try check(unsafe JxlEncoderAddImageFrame(settings, &layout, bytes, bytes.count), "the pixels")
        unsafe JxlEncoderCloseInput(encoder)
    }

    /// Encodes the image, and returns the file.
    func finish() throws(CodecError) -> [UInt8] {
        var file: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            var status = JXL_ENC_ERROR
            let count = unsafe piece.withUnsafeMutableBufferPointer { buffer in
                var next = buffer.baseAddress
                var rest = buffer.count
                unsafe status = JxlEncoderProcessOutput(encoder, &next, &rest)
                return buffer.count - rest
            }
            file += piece.prefix(count)
            guard status == JXL_ENC_NEED_MORE_OUTPUT else {
                try check(status, "the file")
                return file
            }
        }
    }
}

extension PixelBuffer {
    /// The bytes of red, green, and blue.
    fileprivate var bytesWithoutAlpha: [UInt8] {
        let (color, pixel) = format == .rgba16 ? (6, 8) : (3, 4)
        var result = [UInt8](repeating: 0, count: size.area * color)
        var to = 0
        for start in stride(from: 0, to: bytes.count, by: pixel) {
            for offset in 0..<color { result[to + offset] = bytes[start + offset] }
            to += color
        }
        return result
    }
}
#endif
