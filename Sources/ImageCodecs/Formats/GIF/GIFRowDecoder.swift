/// Decodes the first frame of a GIF, on a transparent canvas, while it arrives.
///
/// Later frames are counted but not kept. A file that ends between two blocks, or after the last pixel of its only
/// image, counts as complete even without its last byte, the trailer, which many encoders omit.
final class GIFRowDecoder: BuiltInRowDecoder {
    private let header: ImageHeader
    private var blocks = GIFBlocks()
    /// The received bytes that have not been parsed: less than a block, once the block before the first image is
    /// complete.
    private var bytes: [UInt8] = []
    private var isBehindScreen = false
    /// The global palette as RGB.
    private var palette: [UInt8] = []
    private var transparentIndex: UInt8?
    /// The first image, whose palette may not have arrived yet.
    private var image: GIFBlocks.Frame?
    private var frame: GIFFrameDecoder?
    private var isDecoded = false
    private var hasEnded = false
    private(set) var warnings: Set<ImageWarning> = []

    /// The code table, a few rows and, if interlaced, one index per pixel.
    static func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int {
        (header.isProgressive ? header.size.area : 0) + (128 << 10) + header.size.width * 12
    }

    init(
        header: ImageHeader, rowSize: PixelSize, limits: DecodeLimits, toleratesDamage: Bool
    ) throws(CodecError) {
        self.header = header
    }

    func append(_ newBytes: Span<UInt8>, to rows: any RowSink) throws(CodecError) {
        guard !hasEnded else { return }
        bytes.append(newBytes)
        try read(to: rows)
        if isBehindScreen, image == nil || frame != nil { bytes.removeFirst(blocks.forget(of: bytes.count)) }
    }

    func finish(to rows: any RowSink) throws(CodecError) {
        if !isDecoded, frame != nil, let data = blocks.unfinishedSubblock(at: bytes.count) {
            let bytes = bytes
            try frame?.append(bytes.span.extracting(data), to: rows)
        }
        if !isDecoded, frame?.isCertain == true {
            try endFirstImage(to: rows)
        } else {
            guard isDecoded, hasEnded || blocks.isBetweenBlocks(at: bytes.count) else { throw .truncated(.gif) }
        }
        if !hasEnded { warnings.insert(.missingEnd) }
    }

    var frameCount: Int? { blocks.imageCount }

    var previewScan: Int? { frame?.completePasses }

    func renderPreview(size: PixelSize, to rows: any RowSink) throws(CodecError) {
        frame?.render(to: rows)
    }

    func salvage(to rows: any RowSink) {
        if !isDecoded { frame?.salvage(to: rows) }
    }

    private func read(to rows: any RowSink) throws(CodecError) {
        let bytes = bytes
        let file = bytes.span
        if !isBehindScreen {
            let length = GIFBlocks.screenLength(of: file)
            guard file.has(13, at: 0), length == 13 + GIFBlocks.paletteLength(Int(file[10])) else { return }
            palette = Array(copying: file.extracting(13..<length))
            isBehindScreen = true
        }
        while !hasEnded {
            if image != nil, !isDecoded {
                try readFirstImage(in: file, to: rows)
                guard isDecoded else { return }
            }
            guard let block = blocks.next(in: file) else { return }
            switch block {
            case .graphicControl(let control) where image == nil: transparentIndex = control.transparentIndex
            case .image(let next) where image == nil: image = next
            case .graphicControl, .loop, .otherExtension, .image: break
            case .trailer: hasEnded = true
            case .unknown:
                hasEnded = true
                warnings.insert(.extraBytes)
            }
        }
        guard isDecoded else { throw .corrupt(.gif, "no image") }
    }

    private func readFirstImage(in file: Span<UInt8>, to rows: any RowSink) throws(CodecError) {
        if frame == nil { try openFirstImage(in: file) }
        guard frame != nil else { return }
        while let data = blocks.nextSubblock(in: file) { try frame?.append(file.extracting(data), to: rows) }
        guard !blocks.isInSubblocks else { return }
        try endFirstImage(to: rows)
    }

    private func endFirstImage(to rows: any RowSink) throws(CodecError) {
        try frame?.finish(to: rows)
        if frame?.isComplete == false { warnings.insert(.missingData) }
        isDecoded = true
    }

    /// Creates the frame decoder once the image's palette and code size have arrived.
    private func openFirstImage(in file: Span<UInt8>) throws(CodecError) {
        guard let image, let flags = file.byte(at: blocks.blockStart + 9) else { return }
        let start = blocks.blockStart + 10
        let length = GIFBlocks.paletteLength(flags)
        guard let codeSize = file.byte(at: start + length) else { return }
        let colors = length > 0 ? Array(copying: file.extracting(start..<start + length)) : palette
        // Without a palette, which the format leaves to the decoder, nothing is shown.
        frame = try GIFFrameDecoder(
            image, palette: Self.rgba(colors, transparentIndex), codeSize: codeSize, canvas: header.size)
    }

    /// Returns RGBA colors by index.
    ///
    /// Undefined colors are black; without a palette, all are transparent.
    private static func rgba(_ colors: [UInt8], _ transparentIndex: UInt8?) -> [UInt8] {
        var palette = [UInt8](repeating: 0, count: 256 * 4)
        guard !colors.isEmpty else { return palette }
        for index in 0..<256 where index != transparentIndex.map(Int.init) {
            palette[index * 4 + 3] = 255
            guard index * 3 < colors.count else { continue }
            for channel in 0..<3 { palette[index * 4 + channel] = colors[index * 3 + channel] }
        }
        return palette
    }
}
