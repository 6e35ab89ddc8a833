/// Verifies a GIF: every block, the codes of every frame up to its last pixel, and the trailer.
///
/// An unknown block and a missing trailer are errors here, although decoders accept them.
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

    static func workingBytes(of header: ImageHeader, beginning: Span<UInt8>) -> Int { largestPiece * 4 }

    init(header: ImageHeader, limits: DecodeLimits) throws(CodecError) {
        frames = FrameBudget(of: header, limits: limits)
    }

    func append(_ newBytes: Span<UInt8>) throws(CodecError) {
        var rest = newBytes
        while !hasEnded, !rest.isEmpty {
            bytes.append(rest.extracting(first: Self.largestPiece))
            rest = rest.extracting(droppingFirst: min(rest.count, Self.largestPiece))
            try read()
            bytes.removeFirst(blocks.forget(of: bytes.count, keepingBlock: image != nil && codes == nil))
        }
    }

    func finish(_ header: inout ImageHeader) throws(CodecError) {
        guard hasEnded else { throw .truncated(.gif) }
        guard frames.count > 0 else { throw .corrupt(.gif, "no image") }
        header.frameCount = frames.count
    }

    private func read() throws(CodecError) {
        let bytes = bytes
        let file = bytes.span
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
            case .unknown(let byte): throw .corrupt(.gif, "a block that begins with \(byte)")
            }
        }
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
        while let data = blocks.nextSubblock(in: file) {
            do throws(LZWDecoder.Failure) {
                try codes?.append(file.extracting(data))
            } catch {
                throw .corrupt(.gif, "an undefined code")
            }
        }
        guard !blocks.isInSubblocks else { return false }
        guard codes?.pixelCount == image.size.area else { throw .corrupt(.gif, "the image has too few pixels") }
        return true
    }
}
