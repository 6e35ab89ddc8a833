/// Reads the header of a file while it arrives, and counts the frames that follow; no pixel is decoded.
///
/// Append the file from its first byte in pieces of any size. Holds the beginning of the file until ``header`` is known,
/// then next to nothing. Not `Sendable`: one reader belongs to one task.
public final class ImageHeaderReader {
    /// The header, as soon as enough of the file has come; its frame count is what the file says there, which may be nil.
    public private(set) var header: ImageHeader?

    private let limits: DecodeLimits
    private var bytesSeen = 0
    private var beginning = FileBeginning()
    private var frames: (any FrameCounter)?

    /// Creates a reader for one file.
    public init(limits: DecodeLimits = DecodeLimits()) {
        self.limits = limits
    }

    /// Appends the next bytes of the file.
    ///
    /// Throws what ``ImageHeader/probe(_:limits:customFormats:)`` throws, and `overLimit` for too many bytes.
    public func append(_ bytes: Span<UInt8>) throws(CodecError) {
        bytesSeen += bytes.count
        guard bytesSeen <= limits.maximumBytes else {
            throw .overLimit(.bytes, value: bytesSeen, limit: limits.maximumBytes)
        }
        if header == nil {
            guard let head = try beginning.append(bytes, limits: limits) else { return }
            take(head.header)
        } else {
            frames?.append(bytes)
        }
    }

    /// Ends the file: returns its header with the number of frames, nil if the file does not go on to its end.
    ///
    /// Throws `truncated` if there is no whole header, and `unsupportedFormat`.
    public func finish() throws(CodecError) -> ImageHeader {
        if header == nil, let head = try beginning.finish(limits: limits) { take(head.header) }
        guard var header else { throw beginning.missingHeader }
        if let frames { header.frameCount = frames.count }
        return header
    }

    private func take(_ header: ImageHeader) {
        self.header = header
        let bytes = beginning.bytes
        beginning = FileBeginning()
        guard header.frameCount == nil else { return }
        switch header.format.builtIn {
        case .gif: frames = GIFFrameCounter()
        case .webp: frames = WebPFrameCounter()
        case .jpeg, .png, nil: return
        }
        frames?.append(bytes.span)
    }
}

@available(*, unavailable)
extension ImageHeaderReader: Sendable {}

/// Counts the frames of a file that is appended from its first byte.
private protocol FrameCounter {
    mutating func append(_ bytes: Span<UInt8>)
    /// The number of frames; nil before the end of the file.
    var count: Int? { get }
}

private struct GIFFrameCounter: FrameCounter {
    private var blocks = GIFBlocks()
    /// What has not been walked over.
    private var rest: [UInt8] = []
    private var hasEnded = false

    var count: Int? { hasEnded ? blocks.imageCount : nil }

    mutating func append(_ bytes: Span<UInt8>) {
        guard !hasEnded else { return }
        rest.append(bytes)
        let file = rest
        while !hasEnded, let block = blocks.next(in: file.span) {
            switch block {
            case .graphicControl, .loop, .otherExtension, .image: break
            case .trailer, .unknown: hasEnded = true
            }
        }
        let passed = blocks.forget(of: rest.count)
        rest.removeFirst(passed)
    }
}

private struct WebPFrameCounter: FrameCounter {
    private var frames = 0
    /// What has not been walked over, beginning at `offset` of the file.
    private var rest: [UInt8] = []
    private var offset = 0
    /// Where the next chunk begins in the file.
    private var nextChunk = 12
    /// Where the file ends; nil before that is known.
    private var end: Int?
    private var received = 0

    var count: Int? { end.map { received >= $0 } == true ? frames : nil }

    mutating func append(_ bytes: Span<UInt8>) {
        received += bytes.count
        rest.append(bytes)
        if end == nil, let length = rest.span.littleEndian32(at: 4) { end = length + 8 }
        while let end, nextChunk < end, let length = rest.span.littleEndian32(at: nextChunk - offset + 4) {
            if rest.span.has("ANMF", at: nextChunk - offset) { frames += 1 }
            nextChunk += 8 + length + length & 1
        }
        let passed = min(max(nextChunk - offset, 0), rest.count)
        if end != nil {
            rest.removeFirst(passed)
            offset += passed
        }
    }
}
