import ImageCodecs
import ImageTestSupport

/// A format whose header and decoder are defined by a test, for faults that a correct decoder does not have.
struct TestFormat: CustomFormat {
    typealias Act = @Sendable (inout ImageRows) throws(CodecError) -> Void

    /// A file of the format.
    static let file: [UInt8] = Array("TEST and a few bytes".utf8)
    /// The format that the header declares.
    static let name = ImageFormat(name: "TEST", mediaType: "image/x-test", fileExtension: "test")

    var format = TestFormat.name
    var signatureLength = 12
    /// The signature; with `nil`, no file is recognized.
    var signature: [UInt8]? = Array("TEST".utf8)
    /// The header; `nil` means that more bytes are needed.
    var header: ImageHeader? = ImageHeader(format: TestFormat.name, size: PixelSize(width: 4, height: 8))
    var profile: [UInt8]?
    var metadata = ImageMetadata()
    var frames: (any CustomAnimation)?
    var workingBytes = 0
    var rowSize: PixelSize?
    var previewScan: Int?
    /// The actions of the decoder on the first bytes, at the end, for a preview, and after an error.
    var begin: Act = { _ throws(CodecError) in }
    var finish: Act = { _ throws(CodecError) in }
    var preview: Act = { _ throws(CodecError) in }
    var salvage: Act = { _ throws(CodecError) in }

    func recognizes(_ beginning: Span<UInt8>) -> Bool {
        guard let signature, beginning.count >= signature.count else { return false }
        return signature.indices.allSatisfy { beginning[beginning.count - signature.count + $0] == signature[$0] }
            || signature.indices.allSatisfy { beginning[$0] == signature[$0] }
    }

    func header(of beginning: Span<UInt8>) throws(CodecError) -> ImageHeader? { header }
    func colorProfile(of beginning: Span<UInt8>) -> [UInt8]? { profile }
    func metadata(of file: Span<UInt8>) -> ImageMetadata { metadata }
    func animation(for header: ImageHeader) -> (any CustomAnimation)? { frames }
    func rowSize(of header: ImageHeader, for target: PixelSize) -> PixelSize { rowSize ?? header.size }
    func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int { workingBytes }

    func decoder(for header: ImageHeader, rowSize: PixelSize) -> any CustomRowDecoder {
        Decoder(format: self)
    }

    struct Decoder: CustomRowDecoder {
        let format: TestFormat
        var hasBegun = false
        var previewScan: Int? { format.previewScan }

        mutating func append(_ bytes: Span<UInt8>, to rows: inout ImageRows) throws(CodecError) {
            if hasBegun { return }
            hasBegun = true
            try format.begin(&rows)
        }

        func finish(to rows: inout ImageRows) throws(CodecError) { try format.finish(&rows) }
        func renderPreview(to rows: inout ImageRows) throws(CodecError) { try format.preview(&rows) }
        func salvage(to rows: inout ImageRows) throws(CodecError) { try format.salvage(&rows) }
    }

    /// Returns an action that appends `count` rows of `pixels` pixels whose samples are all `sample`.
    static func rows(_ count: Int, of pixels: Int = 4, sample: UInt8 = 200) -> Act {
        { rows throws(CodecError) in
            let row = [UInt8](repeating: sample, count: pixels * 4)
            for _ in 0..<count { try rows.append(row.span) }
        }
    }

    /// Returns an action that appends the rows of an image.
    static func rows(_ image: PixelBuffer) -> Act {
        { rows throws(CodecError) in
            for y in 0..<image.height {
                try rows.append(image.bytes.span.extracting(y * image.rowBytes..<(y + 1) * image.rowBytes))
            }
        }
    }

    /// Returns the decoded ``file``.
    func decoded(
        _ options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) -> DecodedImage {
        let file = Self.file
        return try StreamingDecoder.decode(file.span, options: options, limits: limits, customFormats: [self])
    }

    /// Returns the header in the beginning of ``file``.
    func probed() throws(CodecError) -> ImageHeader? {
        let file = Self.file
        return try ImageHeader.probe(file.span, customFormats: [self])
    }
}
