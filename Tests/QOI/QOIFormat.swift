public import ImageCodecs

/// QOI, the Quite OK Image format, as an application would add it: with the public API only.
public struct QOIFormat: CustomFormat {
    /// The name, media type, and file extension of the format.
    public let format = ImageFormat(name: "QOI", mediaType: "image/qoi", fileExtension: "qoi")

    /// Creates the format, which has no options.
    public init() {}

    /// Returns whether a file begins with the four letters of the signature, or with those of an animation.
    public func recognizes(_ beginning: Span<UInt8>) -> Bool {
        beginning.count >= 4
            && ["qoif", "qoia"].contains(String(decoding: (0..<4).map { beginning[$0] }, as: UTF8.self))
    }

    /// Returns the header from the first 14 bytes: the signature, width, height, channels, and color space.
    public func header(of beginning: Span<UInt8>) throws(CodecError) -> ImageHeader? {
        guard beginning.count >= QOIDecoder.headerLength else { return nil }
        func number(at offset: Int) -> Int { (0..<4).reduce(0) { $0 << 8 | Int(beginning[offset + $1]) } }
        if beginning[3] == UInt8(ascii: "a") {
            var header = ImageHeader(format: format, size: PixelSize(width: number(at: 4), height: number(at: 8)))
            header.hasAlpha = true
            header.frameCount = nil
            return header
        }
        guard beginning[12] == 3 || beginning[12] == 4 else { throw .corrupt(format, "\(beginning[12]) channels") }
        var header = ImageHeader(format: format, size: PixelSize(width: number(at: 4), height: number(at: 8)))
        header.hasAlpha = beginning[12] == 4
        return header
    }

    /// Returns the memory for a row and for the colors seen, in bytes.
    public func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int {
        rowSize.width * 4 + 64 * 4
    }

    /// Creates a decoder, which needs only the size and whether there is an animation.
    public func decoder(for header: ImageHeader, rowSize: PixelSize) -> any CustomRowDecoder {
        QOIDecoder(rowSize, isAnimated: header.mayBeAnimated)
    }

    /// Creates a parser of an animation.
    public func animation(for header: ImageHeader) -> (any CustomAnimation)? { QOIAnimation(header.size) }
}
