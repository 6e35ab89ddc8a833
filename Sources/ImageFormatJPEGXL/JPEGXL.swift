#if JPEGXL
public import ImageCodecs

/// Lossless conversions between JPEG and JPEG XL, which store the same coefficients: a JPEG XL file is about a fifth
/// smaller.
///
/// Both check the limits first, and end with `cancelled` before the next step if their task is canceled. They can take
/// ``workingBytes(for:)`` in addition to the files.
public enum JPEGXL: Sendable {
    /// Returns a JPEG as JPEG XL, from which ``jpeg(from:limits:)`` restores every byte, as has been verified.
    ///
    /// Throws the errors of `ImageVerifier` for a damaged JPEG, and `encodingFailed` for other formats and for a JPEG that
    /// libjxl cannot convert: one with CMYK, arithmetic coding, an invalid color profile, unusual sampling factors, or
    /// restart intervals that change.
    public static func transcoded(
        fromJPEG file: [UInt8], limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) -> [UInt8] {
        // Also limits the scans, each of which can take a long time.
        let header = try ImageVerifier.verify(file.span, limits: limits)
        guard header.format == .jpeg else {
            throw .encodingFailed(.jpegXL, "only a JPEG can be transcoded, and this is \(header.format.name)")
        }
        try checkCancellation()
        let result = try encoded(file)
        try checkCancellation()
        guard try restores(file, from: result, limits) else {
            throw .encodingFailed(.jpegXL, "libjxl does not restore this JPEG exactly")
        }
        return result
    }

    /// Returns the JPEG that a JPEG XL file was made of, byte for byte; `nil` if it was made of something else.
    ///
    /// The JPEG can have `maximumBytes` of `limits`, as can `file`. Throws `corrupt`, `truncated`, `overLimit`, and
    /// `unsupportedFeature`.
    public static func jpeg(
        from file: [UInt8], limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) -> [UInt8]? {
        guard file.count <= limits.maximumBytes else {
            throw .overLimit(.bytes, value: file.count, limit: limits.maximumBytes)
        }
        let formats = [JPEGXLFormat()]
        guard let header = try ImageHeader.probe(file.span, isComplete: true, limits: limits, customFormats: formats)
        else { throw .truncated(.jpegXL) }
        guard header.format == .jpegXL else { throw .corrupt(.jpegXL, "it is \(header.format.name)") }
        try JPEGXLMarkers.check(file.span, header.size, limits)
        var scanner = JPEGXLFrameScanner(.firstFrame, memory: workingBytes(for: header.size))
        _ = try scanner.admit(file.span)
        return try JPEGXLReconstruction(of: file.count, limit: limits.maximumBytes).jpeg(from: file.span)
    }

    /// Returns the memory that libjxl takes at most for an image of `size`, without the files, in bytes.
    ///
    /// Measured with libjxl 0.7, for three channels of the same size: 53 bytes for each pixel of noise.
    public static func workingBytes(for size: PixelSize) -> Int {
        let (bytes, overflow) = size.area.multipliedReportingOverflow(by: 64)
        return overflow ? .max : min(bytes, .max - 16 << 20) + 16 << 20
    }

    /// Returns whether `jpeg` is restored from `file`.
    private static func restores(
        _ jpeg: [UInt8], from file: [UInt8], _ limits: DecodeLimits
    ) throws(CodecError) -> Bool {
        var limits = limits
        limits.maximumBytes = max(jpeg.count, file.count)
        do throws(CodecError) {
            return try Self.jpeg(from: file, limits: limits) == jpeg
        } catch {
            // For example, a color profile after the frame header is lost.
            guard case .corrupt = error else { throw error }
            return false
        }
    }

    private static func checkCancellation() throws(CodecError) {
        if Task.isCancelled { throw .cancelled(.jpegXL) }
    }

    /// Returns the JPEG XL file of a valid JPEG.
    private static func encoded(_ file: [UInt8]) throws(CodecError) -> [UInt8] {
        let writer = try JPEGXLWriter()
        try writer.addJPEG(file)
        writer.close()
        var result: [UInt8] = []
        try writer.takeOutput(to: &result)
        return result
    }
}
#endif
