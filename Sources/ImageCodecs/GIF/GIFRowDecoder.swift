/// Decodes the first frame of a GIF, on a transparent canvas, as soon as that frame has come as a whole.
///
/// Later frames are counted, not kept. A file that ends between two blocks counts as complete even without its last
/// byte, the trailer, which many writers leave out.
final class GIFRowDecoder: RowDecoder {
    private let header: ImageHeader
    private let limits: DecodeLimits
    private var blocks = GIFBlocks()
    /// The file up to the end of the first image; after that, what the walk over the blocks still needs.
    private var bytes: [UInt8] = []
    private var isDecoded = false
    private var hasEnded = false

    /// giflib's tables, a few rows and, interlaced, an index a pixel; the compressed first frame is not counted.
    static func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int {
        (header.isProgressive ? header.size.area : 0) + (128 << 10) + header.size.width * 12
    }

    init(header: ImageHeader, rowSize: PixelSize, limits: DecodeLimits) throws(CodecError) {
        self.header = header
        self.limits = limits
    }

    func append(_ newBytes: Span<UInt8>, to rows: any RowSink) throws(CodecError) {
        guard !hasEnded else { return }
        guard newBytes.count <= limits.maximumBytes - bytes.count else {
            throw .overLimit(.bytes, value: bytes.count + newBytes.count, limit: limits.maximumBytes)
        }
        bytes.append(newBytes)
        while !hasEnded, let block = nextBlock() {
            switch block {
            case .graphicControl, .loop, .otherExtension, .image: break
            case .trailer, .unknown: hasEnded = true
            }
        }
        if blocks.hasFirstImage, !isDecoded {
            isDecoded = true
            let file = bytes
            try GIFImageReader.read(file.span, canvas: header.size, to: rows)
        }
        if isDecoded { bytes.removeFirst(blocks.forget(of: bytes.count)) }
    }

    func finish(to rows: any RowSink) throws(CodecError) {
        guard isDecoded, hasEnded || blocks.isBetweenBlocks(at: bytes.count) else { throw .truncated(.gif) }
    }

    private func nextBlock() -> GIFBlocks.Block? {
        let bytes = bytes
        return blocks.next(in: bytes.span)
    }

    var frameCount: Int? { blocks.imageCount }
}
