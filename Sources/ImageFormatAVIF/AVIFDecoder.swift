#if AVIF
import CAVIF
import ImageCodecs

/// Owns a decoder of libavif that has parsed a file.
@safe
final class AVIFDecoder {
    /// The maximum number of frames that a file can declare before the limits on frames are checked.
    private static let maximumFrames: UInt32 = 10_000
    /// The maximum length of a side of the coded image, in pixels.
    private static let maximumSide: UInt32 = 1 << 16

    private let decoder: UnsafeMutablePointer<avifDecoder>
    /// The maximum number of pixels of the coded image, of which a part is visible.
    private var maximumCodedArea = 0

    /// Parses `file`, which must exist for as long as the decoder.
    init(_ file: UnsafeBufferPointer<UInt8>) throws(CodecError) {
        guard let decoder = unsafe avifDecoderCreate() else { throw .outOfMemory(.avif) }
        unsafe self.decoder = decoder
        unsafe decoder.pointee.maxThreads = 1
        unsafe decoder.pointee.imageCountLimit = Self.maximumFrames
        // As in browsers: files without `pixi`, or with a crop that cannot be applied, exist.
        unsafe decoder.pointee.strictFlags = AVIF_STRICT_ALPHA_ISPE_REQUIRED.rawValue
        unsafe decoder.pointee.imageDimensionLimit = Self.maximumSide
        try check(unsafe avifDecoderSetIOMemory(decoder, file.baseAddress, file.count))
        try check(unsafe avifDecoderParse(decoder))
        let coded = unsafe Int(image.pointee.width) * Int(image.pointee.height)
        // The limit on pixels applies to the visible part, so that this must be most of the image.
        guard coded <= 2 * crop.size.area + (1 << 16) else {
            throw .unsupportedFeature(.avif, "a crop that hides most of the image")
        }
        // The payload can declare another size.
        maximumCodedArea = coded + (1 << 16)
        unsafe decoder.pointee.imageSizeLimit = UInt32(clamping: maximumCodedArea)
    }

    deinit {
        unsafe avifDecoderDestroy(decoder)
    }

    /// Calls `body` with a decoder that has parsed `file`.
    static func withDecoder<Result>(
        of file: Span<UInt8>, _ body: (AVIFDecoder) throws(CodecError) -> Result
    ) throws(CodecError) -> Result {
        guard !file.endsInsideABox else { throw .truncated(.avif) }
        return try unsafe file.withUnsafeBufferPointer { (bytes) throws(CodecError) -> Result in
            try body(unsafe AVIFDecoder(bytes))
        }
    }

    /// Throws the error that a result of libavif stands for.
    func check(_ result: avifResult) throws(CodecError) {
        switch result {
        case AVIF_RESULT_OK: return
        case AVIF_RESULT_TRUNCATED_DATA, AVIF_RESULT_IO_ERROR: throw .truncated(.avif)
        case AVIF_RESULT_OUT_OF_MEMORY: throw .outOfMemory(.avif)
        case AVIF_RESULT_NOT_IMPLEMENTED, AVIF_RESULT_NO_CODEC_AVAILABLE, AVIF_RESULT_UNSUPPORTED_DEPTH:
            throw .unsupportedFeature(.avif, unsafe String(cString: avifResultToString(result)))
        default: throw .corrupt(.avif, unsafe String(cString: avifResultToString(result)))
        }
    }

    /// The image: its properties, and its planes once a frame has been decoded.
    private var image: UnsafeMutablePointer<avifImage> { unsafe decoder.pointee.image }

    var frameCount: Int { Int(unsafe decoder.pointee.imageCount) }

    /// The header of the visible part of the image, before it is turned upright.
    var header: ImageHeader {
        let image = unsafe image.pointee
        var header = ImageHeader(format: .avif, size: crop.size)
        header.orientation = unsafe orientation(image)
        header.frameCount = max(frameCount, 1)
        header.hasAlpha = unsafe decoder.pointee.alphaPresent != 0
        header.bitsPerChannel = Int(unsafe image.depth)
        header.colorChannels = unsafe image.yuvFormat == AVIF_PIXEL_FORMAT_YUV400 ? 1 : 3
        let planes = maximumCodedArea * (header.hasAlpha ? 4 : 3) * (header.bitsPerChannel > 8 ? 2 : 1)
        // The planes of a frame, and those that a frame is predicted from.
        header.memoryUsage = planes * (header.mayBeAnimated ? 8 : 2)
        return header
    }

    /// The visible part of the image; a crop that is invalid is ignored.
    var crop: PixelRectangle {
        let image = unsafe image.pointee
        let whole = PixelRectangle(
            left: 0, top: 0, size: PixelSize(width: Int(unsafe image.width), height: Int(unsafe image.height)))
        guard unsafe image.transformFlags & AVIF_TRANSFORM_CLAP.rawValue != 0 else { return whole }
        var clap = unsafe image.clap
        var rectangle = avifCropRect()
        var diagnostics = avifDiagnostics()
        let isValid = unsafe avifCropRectConvertCleanApertureBox(
            &rectangle, &clap, image.width, image.height, image.yuvFormat, &diagnostics)
        guard isValid != 0 else { return whole }
        return PixelRectangle(
            left: Int(rectangle.x), top: Int(rectangle.y),
            size: PixelSize(width: Int(rectangle.width), height: Int(rectangle.height)))
    }

    /// The orientation that is the same as the rotation to the left and the reflection that follows it.
    private func orientation(_ image: avifImage) -> ImageOrientation {
        let turns = unsafe image.transformFlags & AVIF_TRANSFORM_IROT.rawValue == 0 ? 0 : image.irot.angle & 3
        guard unsafe image.transformFlags & AVIF_TRANSFORM_IMIR.rawValue != 0 else {
            return [.up, .left, .down, .right][Int(turns)]
        }
        let exchangesRows: [ImageOrientation] = [.downMirrored, .leftMirrored, .upMirrored, .rightMirrored]
        let exchangesColumns: [ImageOrientation] = [.upMirrored, .rightMirrored, .downMirrored, .leftMirrored]
        return unsafe image.imir.mode == 0 ? exchangesRows[Int(turns)] : exchangesColumns[Int(turns)]
    }

    var colorProfile: [UInt8]? {
        let image = unsafe image.pointee
        if unsafe image.icc.size > 0 { return unsafe Self.bytes(image.icc) }
        return unsafe CodedColors.profile(
            primaries: Int(image.colorPrimaries), transfer: Int(image.transferCharacteristics))
    }

    /// The Exif data without the identifier that some files contain by mistake.
    var exif: [UInt8]? {
        let bytes = unsafe Self.bytes(image.pointee.exif)
        let tiff = bytes.starts(with: Array("Exif\0\0".utf8)) ? Array(bytes.dropFirst(6)) : bytes
        return tiff.isEmpty ? nil : tiff
    }

    private static func bytes(_ data: avifRWData) -> [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: data.data, count: data.size))
    }

    /// Returns the display times of all frames of `file`.
    func delays(in file: UnsafeBufferPointer<UInt8>) throws(CodecError) -> [Duration] {
        // For each frame, libavif adds up the times of those before it, each of which it looks for in a table.
        let steps = (frameCount * frameCount).multipliedReportingOverflow(
            by: min(unsafe Self.timingEntries(in: file), frameCount))
        guard !steps.overflow, steps.partialValue <= 1 << 31 else {
            throw .unsupportedFeature(.avif, "a table of frame times of this length")
        }
        var delays: [Duration] = []
        for index in 0..<frameCount {
            if Task.isCancelled { throw .cancelled(.avif) }
            delays.append(try delay(at: index))
        }
        return delays
    }

    /// Returns the maximum number of entries of a box `stts` in the file, at least 1.
    private static func timingEntries(in file: UnsafeBufferPointer<UInt8>) -> Int {
        let bytes = unsafe file.span
        var most = 1
        for index in bytes.indices where bytes[index] == UInt8(ascii: "s") && bytes.has("stts", at: index) {
            most = max(most, bytes.bigEndian32(at: index + 8) ?? 0)
        }
        return most
    }

    /// Returns the display time of frame `index`.
    private func delay(at index: Int) throws(CodecError) -> Duration {
        var timing = avifImageTiming()
        try check(unsafe avifDecoderNthImageTiming(decoder, UInt32(clamping: index), &timing))
        let seconds = timing.duration
        return seconds.isFinite ? .milliseconds(Int64(min(max(seconds * 1_000, 0), 1e12).rounded())) : .zero
    }

    /// Decodes frame `index`.
    func decodeFrame(at index: Int) throws(CodecError) {
        try check(unsafe avifDecoderNthImage(decoder, UInt32(clamping: index)))
    }

    /// Passes the rows of the decoded frame, whose visible part must have `size`.
    func passRows(_ size: PixelSize, to rows: inout ImageRows) throws(CodecError) {
        let crop = crop
        guard crop.size == size else {
            throw .corrupt(.avif, "a frame of \(crop.size) in an image of \(size)")
        }
        try unsafe AVIFRows.pass(crop, of: image, decoder: self, to: &rows)
    }
}
#endif
