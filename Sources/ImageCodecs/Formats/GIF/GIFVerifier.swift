/// Verifies a GIF: every block, the codes of every frame up to its last pixel, and the trailer.
///
/// An unknown block is an error here, although decoders accept it, because it can be a damaged frame; only zeros up to
/// the end of the file cannot.
final class GIFVerifier: BuiltInVerifier {
    /// The maximum number of bytes processed at once, which bounds the memory.
    private static let largestPiece = 64 << 10

    private var blocks = GIFBlocks()
    /// The received bytes that have not been parsed: less than a block, and a piece.
    private var bytes: [UInt8] = []
    private var frames: FrameBudget
    /// The image whose data is being received, and the code reader once its code size has arrived.
    private var image: GIFBlocks.Frame?
    private var codes: LZWLengths?
    private var hasEnded = false
    /// A Boolean value that indicates whether only zeros may follow.
    private var isPadding = false
    /// A Boolean value that indicates whether there is a palette for all frames; `nil` until it is known.
    private var hasPalette: Bool?
    private var warnings: Set<ImageWarning> = []

    static func workingBytes(of header: ImageHeader, beginning: Span<UInt8>) -> Int { largestPiece * 4 }

    init(header: ImageHeader, limits: DecodeLimits) throws(CodecError) {
        frames = FrameBudget(of: header, limits: limits)
    }

    func append(_ newBytes: Span<UInt8>) throws(CodecError) {
        var rest = newBytes
        while !hasEnded, !rest.isEmpty {
            guard !isPadding else { return try pass(padding: rest) }
            bytes.append(rest.extracting(first: Self.largestPiece))
            rest = rest.extracting(droppingFirst: min(rest.count, Self.largestPiece))
            try read()
            bytes.removeFirst(blocks.forget(of: bytes.count, keepingBlock: image != nil && codes == nil))
        }
    }

    func finish(_ header: inout ImageHeader) throws(CodecError) {
        if !hasEnded, !isPadding {
            if codes != nil, let data = blocks.unfinishedSubblock(at: bytes.count) {
                let bytes = bytes
                try read(bytes.span.extracting(data))
            }
            let isInOnlyImage = image.map { frames.count == 1 && codes != nil && isCertain($0) }
            guard isInOnlyImage ?? blocks.isBetweenBlocks(at: bytes.count) else { throw .truncated(.gif) }
            if let image { noteMissingData(image) }
            warnings.insert(.missingEnd)
        }
        guard frames.count > 0 else { throw .corrupt(.gif, "no image") }
        header.warnings = warnings
        header.frameCount = frames.count
    }

    private func read() throws(CodecError) {
        let bytes = bytes
        let file = bytes.span
        if hasPalette == nil { hasPalette = file.byte(at: 10).map { $0 & 0x80 != 0 } }
        while !hasEnded {
            if let image {
                guard try readImage(image, in: file) else { return }
                self.image = nil
                codes = nil
            }
            switch blocks.next(in: file) {
            case nil: return
            case .image(let next):
                try frames.add(next.size)
                image = next
            case .graphicControl, .loop, .otherExtension: break
            case .trailer: hasEnded = true
            case .unknown(let byte):
                guard byte == 0, frames.count > 0 else { throw .corrupt(.gif, "a block that begins with \(byte)") }
                warnings.insert(.extraBytes)
                isPadding = true
                return try pass(padding: file.extracting(droppingFirst: blocks.blockStart))
            }
        }
    }

    /// Reads data of the image.
    private func read(_ data: Span<UInt8>) throws(CodecError) {
        do throws(LZWDecoder.Failure) {
            try codes?.append(data)
        } catch {
            throw .corrupt(.gif, "an undefined code")
        }
    }

    /// Checks bytes between the last block and the trailer or the end of the file.
    private func pass(padding: Span<UInt8>) throws(CodecError) {
        for index in padding.indices where !hasEnded {
            let byte = padding[index]
            guard byte == 0 || byte == 0x3B else { throw .corrupt(.gif, "a block that begins with 0") }
            hasEnded = byte == 0x3B
        }
    }

    /// Returns whether all pixels of an image are known: they have been received, or there are no colors for them.
    private func isCertain(_ image: GIFBlocks.Frame) -> Bool {
        codes?.pixelCount == image.size.area || !image.hasPalette && hasPalette == false
    }

    private func noteMissingData(_ image: GIFBlocks.Frame) {
        if codes?.pixelCount != image.size.area { warnings.insert(.missingData) }
    }

    /// Reads the received data of the image; returns `true` once it is complete.
    private func readImage(_ image: GIFBlocks.Frame, in file: Span<UInt8>) throws(CodecError) -> Bool {
        if codes == nil {
            guard let flags = file.byte(at: blocks.blockStart + 9) else { return false }
            guard let codeSize = file.byte(at: blocks.blockStart + 10 + GIFBlocks.paletteLength(flags)) else {
                return false
            }
            do throws(LZWDecoder.Failure) {
                codes = try LZWLengths(codeSize: codeSize, limit: image.size.area)
            } catch {
                throw .corrupt(.gif, "codes of \(codeSize) bits")
            }
        }
        while let data = blocks.nextSubblock(in: file) { try read(file.extracting(data)) }
        guard !blocks.isInSubblocks else { return false }
        guard isCertain(image) else { throw .corrupt(.gif, "the image has too few pixels") }
        noteMissingData(image)
        return true
    }
}
