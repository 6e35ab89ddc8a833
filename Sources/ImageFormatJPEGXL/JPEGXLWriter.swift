#if JPEGXL
import CJXL
import ImageCodecs

/// Owns an encoder of libjxl for one file.
///
/// Frames are encoded when the output is taken; the last one only after ``close()``.
@safe
final class JPEGXLWriter {
    private let encoder: OpaquePointer
    /// The options of all frames, which libjxl owns.
    private let settings: OpaquePointer
    private var piece = [UInt8](repeating: 0, count: 256 << 10)

    init() throws(CodecError) {
        guard let encoder = unsafe JxlEncoderCreate(nil) else { throw .encodingFailed(.jpegXL, "out of memory") }
        guard let settings = unsafe JxlEncoderFrameSettingsCreate(encoder, nil) else {
            unsafe JxlEncoderDestroy(encoder)
            throw .encodingFailed(.jpegXL, "out of memory")
        }
        unsafe (self.encoder, self.settings) = (encoder, settings)
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

    /// Sets the options of the frames; `distance` is `nil` for lossless encoding.
    ///
    /// Call this method after ``setInformation(_:colorProfile:)``.
    func setOptions(distance: Float?, effort: Int) throws(CodecError) {
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
    }

    /// Adds Exif data, which a number precedes: the place of the data.
    func addExif(_ exif: [UInt8]) throws(CodecError) {
        try check(unsafe JxlEncoderUseBoxes(encoder), "the metadata")
        let contents = [0, 0, 0, 0] + exif
        let name = "Exif".utf8.map { CChar(bitPattern: $0) }
        try check(unsafe JxlEncoderAddBox(encoder, name, contents, contents.count, 0), "the Exif data")
        unsafe JxlEncoderCloseBoxes(encoder)
    }

    /// Adds the pixels of the image, or of a part of it that replaces this part of the frame before.
    func addFrame(
        _ pixels: PixelBuffer, isOpaque: Bool, place: PixelRectangle? = nil, ticks: Int = 0
    ) throws(CodecError) {
        var header = JxlFrameHeader()
        unsafe JxlEncoderInitFrameHeader(&header)
        header.duration = UInt32(clamping: ticks)
        if ticks > 0 {
            // Each frame is kept for the next one.
            header.layer_info.save_as_reference = 1
            header.layer_info.blend_info.source = 1
        }
        if let place {
            header.layer_info.have_crop = 1
            header.layer_info.crop_x0 = Int32(clamping: place.left)
            header.layer_info.crop_y0 = Int32(clamping: place.top)
            header.layer_info.xsize = UInt32(clamping: place.size.width)
            header.layer_info.ysize = UInt32(clamping: place.size.height)
        }
        try check(unsafe JxlEncoderSetFrameHeader(settings, &header), "the frame")
        var layout = JxlPixelFormat(
            num_channels: isOpaque ? 3 : 4, data_type: pixels.format == .rgba16 ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8,
            endianness: JXL_NATIVE_ENDIAN, align: 0)
        let bytes = isOpaque ? pixels.bytesWithoutAlpha : pixels.bytes
        try check(unsafe JxlEncoderAddImageFrame(settings, &layout, bytes, bytes.count), "the pixels")
    }

    /// Adds a JPEG, which can be restored from the file.
    func addJPEG(_ file: [UInt8]) throws(CodecError) {
        try check(unsafe JxlEncoderStoreJPEGMetadata(encoder, 1), "the metadata")
        try check(unsafe JxlEncoderAddJPEGFrame(settings, file, file.count), "the JPEG")
    }

    /// Ends the file with the last frame that was added.
    func close() {
        unsafe JxlEncoderCloseInput(encoder)
    }

    /// Encodes the added frames, and appends the result to `file`.
    func takeOutput(to file: inout [UInt8]) throws(CodecError) {
        while true {
            var status = JXL_ENC_ERROR
            let count = unsafe piece.withUnsafeMutableBufferPointer { buffer in
                var next = buffer.baseAddress
                var rest = buffer.count
                unsafe status = JxlEncoderProcessOutput(encoder, &next, &rest)
                return buffer.count - rest
            }
            file.append(piece.span.extracting(0..<count))
            guard status == JXL_ENC_NEED_MORE_OUTPUT else { return try check(status, "the file") }
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
