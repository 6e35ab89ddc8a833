/// Decodes a BMP while it arrives.
///
/// Most files begin with the bottom row: their rows are passed in this order (``ImageHeader/isBottomUp``).
final class BMPRowDecoder: BuiltInRowDecoder {
    /// The length of the header before that of the bitmap.
    static let fileHeaderLength = 14

    /// The received part of the headers, until they are complete.
    private var beginning: [UInt8] = []
    private var decoder: BitmapRowDecoder?
    private(set) var warnings: Set<ImageWarning> = []

    static func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int {
        BitmapRowDecoder.workingBytes(width: header.size.width)
    }

    init(
        header: ImageHeader, rowSize: PixelSize, limits: DecodeLimits, toleratesDamage: Bool
    ) throws(CodecError) {}

    func append(_ bytes: Span<UInt8>, to rows: any RowSink) throws(CodecError) {
        var count = 0
        if decoder == nil {
            count = min(bytes.count, Self.fileHeaderLength + Bitmap.maximumHeaderLength - beginning.count)
            beginning.append(bytes.extracting(first: count))
            try begin(to: rows)
        }
        try decoder?.append(bytes.extracting(droppingFirst: count), to: rows)
    }

    /// Creates the decoder once the headers are complete.
    private func begin(to rows: any RowSink) throws(CodecError) {
        let file = beginning
        guard let bitmap = try Bitmap(file.span, at: Self.fileHeaderLength, of: .bmp) else { return }
        let headerEnd = Self.fileHeaderLength + bitmap.paletteOffset
        let declared = file.span.littleEndian32(at: 10) ?? 0
        var decoder = BitmapRowDecoder(
            bitmap, pixelOffset: declared < headerEnd ? nil : declared - headerEnd, of: .bmp)
        try decoder.append(file.span.extracting(droppingFirst: min(headerEnd, file.count)), to: rows)
        self.decoder = decoder
        beginning = []
    }

    func finish(to rows: any RowSink) throws(CodecError) {
        guard let missing = try decoder?.finish(to: rows) else { throw .truncated(.bmp) }
        warnings = missing
    }

    var hasReachedEnd: Bool { decoder?.rowsLeft == 0 }
}
