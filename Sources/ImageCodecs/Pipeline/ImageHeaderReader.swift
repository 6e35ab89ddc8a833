/// Reads the header of a file while it arrives, counts its frames, and looks for an orientation after the pixels; no
/// pixel is decoded.
///
/// Append the file from its first byte in pieces of any size. A reader holds the beginning of the file until ``header``
/// is known, and almost nothing after that. It is not `Sendable`: use it in only one task at a time.
public final class ImageHeaderReader {
    /// The header, available as soon as enough of the file has been received.
    ///
    /// Its frame count is the declared one, which can be `nil`.
    public private(set) var header: ImageHeader?

    private let limits: DecodeLimits
    private var bytesSeen = 0
    private var beginning: FileBeginning

    /// The declared number of bytes in the file, which limits the memory in which it is collected; `nil` if unknown.
    package var expectedLength: Int? {
        get { beginning.expectedLength }
        set { beginning.expectedLength = newValue }
    }

    /// The maximum number of bytes before ``header`` is known: those of a file, if its format needs all of it.
    package var maximumHeaderBytes: Int { beginning.maximumHeaderBytes(limits) }

    private var frames: (any FrameCounter)?
    /// The search for an orientation after the pixels; `nil` if none counts there.
    private var exif: ExifScanner?

    /// Creates a reader for one file, which is offered to `customFormats` if it has no built-in format.
    public init(limits: DecodeLimits = DecodeLimits(), customFormats: [any CustomFormat] = []) {
        self.limits = limits
        beginning = FileBeginning(formats: FormatTable(adding: customFormats))
    }

    /// Appends the next bytes of the file.
    ///
    /// Throws the errors of ``ImageHeader/probe(_:isComplete:limits:customFormats:)``, and `overLimit` for too many bytes.
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
            exif?.append(bytes)
        }
    }

    /// Marks the end of the file and returns its header with the orientation that a decode applies; the frame count of a
    /// GIF or animated WebP is `nil` if the file is incomplete.
    ///
    /// Throws `truncated` if the header is incomplete, `unsupportedFormat` if the format is unknown, and the other
    /// errors of ``append(_:)``.
    public func finish() throws(CodecError) -> ImageHeader {
        if header == nil, let head = try beginning.finish(limits: limits) { take(head) }
        guard var header else { throw beginning.missingHeader }
        if let frames { header.frameCount = frames.count }
        if let exif {
            let data = exif.exif ?? []
            header.orientation = ImageOrientation(exif: data.span)
            header.hasTrailingOrientation = false
        }
        return header
    }

    private func take(_ head: FileHead) {
        header = head.header
        let bytes = beginning.bytes
        beginning = FileBeginning()
        if head.header.canChangeOrientation {
            exif = ExifScanner()
            exif?.append(bytes.span)
        }
        guard head.header.frameCount == nil else { return }
        frames = head.format.frameCounter()
        frames?.append(bytes.span)
    }
}

@available(*, unavailable)
extension ImageHeaderReader: Sendable {}
