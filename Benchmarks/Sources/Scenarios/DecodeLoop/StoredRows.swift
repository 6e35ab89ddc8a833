import ImageCodecs

/// A format without a codec: its only file is a signature, its size is constant, and every row is the same row of
/// pixels.
///
/// The cost of a decode is that of the library's work on rows: scaling, and writing the result.
struct StoredRows: CustomFormat {
    let format = ImageFormat(name: "stored rows", mediaType: "image/x-stored-rows", fileExtension: "rows")
    private static let signature: [UInt8] = Array("stored rows ".utf8)
    private let size: PixelSize
    private let row: [UInt8]

    /// Creates the format of an image of `size` with rows of noise, which no shortcut for uniform colors makes cheaper.
    init(size: PixelSize) {
        self.size = size
        var random = SplitMix64(seed: 1)
        row = (0..<size.width * 4).map { $0 % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: random.next()) }
    }

    /// The only file of the format.
    var file: [UInt8] { Self.signature }

    func recognizes(_ beginning: Span<UInt8>) -> Bool {
        beginning.count >= Self.signature.count
            && Self.signature.indices.allSatisfy { beginning[$0] == Self.signature[$0] }
    }

    func header(of beginning: Span<UInt8>) -> ImageHeader? { ImageHeader(format: format, size: size) }

    func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int { row.count }

    func decoder(for header: ImageHeader, rowSize: PixelSize) -> any CustomRowDecoder {
        Decoder(row: row, count: rowSize.height)
    }

    private struct Decoder: CustomRowDecoder {
        let row: [UInt8]
        let count: Int

        func append(_ bytes: Span<UInt8>, to rows: inout ImageRows) {}

        func finish(to rows: inout ImageRows) throws(CodecError) {
            for _ in 0..<count { try rows.append(row.span) }
        }
    }
}
