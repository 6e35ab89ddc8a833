/// An image format that this library does not know, and you do.
///
/// Handed to ``StreamingDecoder``, or a loader by its decoder's configuration, its files are images like all others:
/// limits are checked by the header, memory is asked for, rows are scaled, cut, turned, converted to sRGB and shown as
/// they come. Whatever it does, it is held to its promises: it costs an error, and no more.
///
/// Formats are asked only about files that are no JPEG, PNG, WebP or GIF, in the order in which they are handed over: the
/// first that recognizes a file has it, and is waited for until it has seen ``signatureLength`` bytes.
/// One value serves many decodes at a time.
public protocol CustomFormat: Sendable {
    /// What the format is called.
    ///
    /// Its media type is named in the `Accept` field of a loader's requests.
    var format: ImageFormat { get }

    /// How many leading bytes decide whether a file has the format; 12 by default, 4,096 at most.
    ///
    /// A file that is none of any format is refused once the longest of these numbers has come, and shorter files are no
    /// images if they have less than 12 bytes.
    var signatureLength: Int { get }

    /// Returns whether a file with this beginning has the format.
    ///
    /// The beginning has ``signatureLength`` bytes at most, and fewer while, or because, there are no more; what is recognized
    /// by fewer has to be by more.
    func recognizes(_ beginning: Span<UInt8>) -> Bool

    /// What a file that begins with these bytes, and was recognized, says of its image; nil while more are needed.
    ///
    /// To be read from the structure, without decoding, as the answer decides whether there will be a decode. Asked again
    /// with a longer beginning, up to ``DecodeLimits/maximumHeaderBytes``. The size is that of the stored image, and checked
    /// against the limits by the caller. Of the header the format is set to this one, the frames to one, of which all
    /// decodes are made, and what is said of a color profile to what ``colorProfile(of:)`` tells. Throws `corrupt` and
    /// `unsupportedFeature`.
    func header(of beginning: Span<UInt8>) throws(CodecError) -> ImageHeader?

    /// The ICC profile of the rows, found in the beginning that ``header(of:)`` was content with; nil, as unless told
    /// otherwise, for sRGB.
    func colorProfile(of beginning: Span<UInt8>) -> [UInt8]?

    /// The size of the rows that a decoder hands out where `target` is wanted: as stored, which it is unless told
    /// otherwise, or less where the format can be decoded to a smaller size, but no less than the target if that is smaller.
    func rowSize(of header: ImageHeader, for target: PixelSize) -> PixelSize

    /// The maximum number of bytes of memory that a decoder holds itself while it makes rows of `rowSize`.
    func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int

    /// A decoder for a file with this header, whose size is within the limits; `rowSize` as ``rowSize(of:for:)`` gave it.
    func decoder(for header: ImageHeader, rowSize: PixelSize) throws(CodecError) -> any CustomRowDecoder
}

extension CustomFormat {
    /// 12.
    public var signatureLength: Int { ImageFormat.signatureLength }
    /// None: sRGB.
    public func colorProfile(of beginning: Span<UInt8>) -> [UInt8]? { nil }
    /// As stored.
    public func rowSize(of header: ImageHeader, for target: PixelSize) -> PixelSize { header.size }
}

extension CustomFormat {
    /// The maximum number of bytes by which a format is recognized.
    private static var maximumSignatureLength: Int { 4 << 10 }
    /// The maximum number of pixels along a side, whatever the limits, so that products cannot overflow.
    private static var maximumSide: Int { 0x7FFF_FFFF }

    /// The length of the signature, within its bounds.
    var usableSignatureLength: Int { min(max(signatureLength, 0), Self.maximumSignatureLength) }

    /// Returns whether a file has the format, as far as has come.
    func claims(_ prefix: Span<UInt8>) -> Bool {
        recognizes(prefix.extracting(first: min(prefix.count, usableSignatureLength)))
    }

    /// The header, checked and with what the library knows better.
    func checkedHeader(
        of beginning: Span<UInt8>, limits: DecodeLimits, colors: inout [ColorSource]
    ) throws(CodecError) -> ImageHeader? {
        guard var header = try header(of: beginning) else { return nil }
        try limits.check(header.size, format)
        let side = max(header.size.width, header.size.height)
        guard side <= Self.maximumSide else { throw .overLimit(.side, value: side, limit: Self.maximumSide) }
        header.format = format
        header.frameCount = 1
        header.orientationFollowsPixels = false
        header.colorChannels = header.colorChannels == 1 ? 1 : 3  // rows of inks have become colors
        header.isGrey = header.colorChannels == 1
        header.colorProfile = nil
        if let profile = colorProfile(of: beginning) {
            header.colorProfile = ProfileDescription.read(profile.span)
            colors = [ColorSource(profile: profile.span)]
        }
        return header
    }
}
