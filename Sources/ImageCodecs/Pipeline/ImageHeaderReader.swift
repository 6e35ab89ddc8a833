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
            take(head)
        } else {
            frames?.append(bytes)
        }
    }

    /// Ends the file: returns its header with the number of frames, nil if the file does not go on to its end.
    ///
    /// Throws `truncated` if there is no whole header, and `unsupportedFormat`.
    public func finish() throws(CodecError) -> ImageHeader {
        if header == nil, let head = try beginning.finish(limits: limits) { take(head) }
        guard var header else { throw beginning.missingHeader }
        if let frames { header.frameCount = frames.count }
        return header
    }

    private func take(_ head: FileHead) {
        header = head.header
        let bytes = beginning.bytes
        beginning = FileBeginning()
        guard head.header.frameCount == nil else { return }
        frames = head.format.frameCounter()
        frames?.append(bytes.span)
    }
}

@available(*, unavailable)
extension ImageHeaderReader: Sendable {}
