/// An image format implemented by the application.
///
/// Pass it to ``StreamingDecoder``, or to a loader in its decoder's configuration. Its files are treated like those
/// of built-in formats: the header is checked against the limits, memory is reserved, and rows are scaled, cropped,
/// oriented, converted to sRGB, and shown as they arrive. A format that violates its contract causes an error and no
/// further harm.
///
/// Custom formats are asked only about files that have no built-in format, in the order in which they were
/// passed: the first that recognizes a file is used. A format is asked again as bytes arrive, until ``signatureLength``
/// bytes are available. One value serves many concurrent decodes.
public protocol CustomFormat: Sendable {
    /// The name of the format.
    ///
    /// A loader includes its media type in the `Accept` field of requests.
    var format: ImageFormat { get }

    /// The number of leading bytes that decide whether a file has the format: 12 by default, at most 4,096.
    ///
    /// A file of no known format is rejected once the longest of these lengths has arrived. Shorter files are
    /// rejected if they have fewer than 12 bytes.
    var signatureLength: Int { get }

    /// Returns whether a file that begins with these bytes has the format.
    ///
    /// `beginning` has at most ``signatureLength`` bytes, and fewer if no more have arrived or exist. A format that
    /// recognizes a prefix must also recognize its continuation.
    func recognizes(_ beginning: Span<UInt8>) -> Bool

    /// Returns the header of the image in a recognized file that begins with these bytes, or `nil` while more are
    /// needed.
    ///
    /// Parse the structure only, without decoding, because the result decides whether the file is decoded. This
    /// method is called again with a longer beginning, up to ``DecodeLimits/maximumHeaderBytes``. The size is that of
    /// the stored image; the caller checks it against the limits. The caller also sets the format to this one, the
    /// frame count to one unless there is an animation, and the color profile to the result of ``colorProfile(of:)``.
    /// Throws `corrupt` and `unsupportedFeature`.
    func header(of beginning: Span<UInt8>) throws(CodecError) -> ImageHeader?

    /// Returns the ICC profile of the decoded rows; `nil`, the default, means sRGB, and an empty one a color space that no
    /// profile describes.
    ///
    /// `beginning` is the data for which ``header(of:)`` returned a header.
    func colorProfile(of beginning: Span<UInt8>) -> [UInt8]?

    /// Returns the size of the rows that a decoder produces for `target`: the stored size, by default, or a smaller
    /// one if the format can be decoded at reduced size, but no less than the target if that is smaller. The target exceeds
    /// the stored size only of images without pixels (``ImageHeader/proportions``), whose rows can have that size.
    func rowSize(of header: ImageHeader, for target: PixelSize) -> PixelSize

    /// Returns the maximum memory that a decoder itself holds while it produces rows of `rowSize`, in bytes.
    func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int

    /// Creates a decoder for a file with this header, whose size is within the limits; `rowSize` is a result of
    /// ``rowSize(of:for:)``.
    ///
    /// Of an animation, it decodes the first frame.
    func decoder(for header: ImageHeader, rowSize: PixelSize) throws(CodecError) -> any CustomRowDecoder

    /// Creates a parser of the frames of a file with this header, whose frame count is not 1; `nil`, the default, if the
    /// file is a still image.
    func animation(for header: ImageHeader) -> (any CustomAnimation)?

    /// Returns the color profile and the Exif data of `file`, a complete file or the beginning of one; empty by default.
    func metadata(of file: Span<UInt8>) -> ImageMetadata
}

extension CustomFormat {
    /// The default length, 12 bytes.
    public var signatureLength: Int { 12 }
    /// Returns `nil`: the rows are in sRGB.
    public func colorProfile(of beginning: Span<UInt8>) -> [UInt8]? { nil }
    /// Returns the stored size.
    public func rowSize(of header: ImageHeader, for target: PixelSize) -> PixelSize { header.size }
    /// Returns `nil`: all files are still images.
    public func animation(for header: ImageHeader) -> (any CustomAnimation)? { nil }
    /// Returns empty metadata.
    public func metadata(of file: Span<UInt8>) -> ImageMetadata { ImageMetadata() }
}

extension CustomFormat {
    /// The maximum length of a signature, in bytes.
    static var maximumSignatureLength: Int { 4 << 10 }
    /// The maximum side in pixels regardless of the limits, so that products cannot overflow.
    private static var maximumSide: Int { 0x7FFF_FFFF }

    /// The length of the signature, clamped to the valid range.
    var usableSignatureLength: Int { min(max(signatureLength, 0), Self.maximumSignatureLength) }

    /// Returns whether a file has the format, as far as it has been received.
    func claims(_ prefix: Span<UInt8>) -> Bool {
        recognizes(prefix.extracting(first: min(prefix.count, usableSignatureLength)))
    }

    /// Returns the validated header, with the fields that the library sets.
    func checkedHeader(
        of beginning: Span<UInt8>, limits: DecodeLimits, colors: inout [ColorSource]
    ) throws(CodecError) -> ImageHeader? {
        guard var header = try header(of: beginning) else { return nil }
        try limits.check(header.size, format)
        let side = max(header.size.width, header.size.height)
        guard side <= Self.maximumSide else { throw .overLimit(.side, value: side, limit: Self.maximumSide) }
        header.format = format
        if let count = header.frameCount, count < 1 { header.frameCount = nil }
        if header.mayBeAnimated, !(self is any WholeFileFormat), animation(for: header) == nil { header.frameCount = 1 }
        if let shape = header.proportions,
            min(shape.width, shape.height) < 1 || max(shape.width, shape.height) > Self.maximumSide
        {
            throw .decoderFault(format, "proportions of \(shape)")
        }
        header.hasTrailingOrientation = false
        header.colorChannels = header.colorChannels == 1 ? 1 : 3  // CMYK rows have been converted
        header.isGray = header.colorChannels == 1
        header.colorProfile = nil
        if let profile = colorProfile(of: beginning) {
            header.colorProfile = profile.isEmpty ? nil : ProfileDescription.read(profile.span)
            colors = [profile.isEmpty ? .unusable : ColorSource(profile: profile.span)]
        }
        return header
    }
}
