/// A parser of the frames of one file of a ``CustomFormat``, which finds them while the file arrives.
public protocol CustomAnimation: Sendable {
    /// The number of times the animation plays, as far as the file has been received; 0 means forever.
    var repetitionCount: Int { get }

    /// Takes the next bytes of the file, in pieces of any size starting with the first byte, and returns the frames that
    /// are complete.
    ///
    /// Ignore bytes after the last frame. Throws `corrupt` and `unsupportedFeature`.
    mutating func append(_ bytes: Span<UInt8>) throws(CodecError) -> [CustomFrame]

    /// Ends the file, or throws `truncated` if it is incomplete.
    mutating func finish() throws(CodecError)
}

/// A frame of an animation in a custom format.
public struct CustomFrame: Sendable, Hashable {
    /// The treatment of the frame's area after its display time.
    public enum Disposal: Sendable, Hashable {
        /// The frame stays.
        case keep
        /// The area becomes transparent.
        case clear
        /// The previous content is restored.
        case restore
    }

    /// The frame as a still image of the format, which ``CustomFormat/decoder(for:rowSize:)`` decodes, with a header of
    /// the frame's size.
    public var file: [UInt8]
    /// The size of the frame in pixels.
    public var size: PixelSize
    /// The distance of the frame from the left edge of the image, in pixels.
    public var left: Int
    /// The distance of the frame from the top edge of the image, in pixels.
    public var top: Int
    /// The display time, at most 2^32 seconds; 10 ms or less are shown for 100 ms, as in browsers.
    public var delay: Duration
    /// The treatment of the frame's area after its display time.
    public var disposal: Disposal
    /// A Boolean value that indicates whether translucent pixels are blended with those below instead of replacing them.
    public var isBlended: Bool

    /// Creates a frame; by default, it is in the top left corner, stays, and replaces what is below.
    public init(
        file: [UInt8], size: PixelSize, left: Int = 0, top: Int = 0, delay: Duration, disposal: Disposal = .keep,
        isBlended: Bool = false
    ) {
        self.file = file
        self.size = size
        self.left = left
        self.top = top
        self.delay = delay
        self.disposal = disposal
        self.isBlended = isBlended
    }
}

extension StoredFrame {
    /// Returns the nearest delay from zero to 2^32 seconds, so that the sum over all frames cannot overflow.
    static func bounded(_ delay: Duration) -> Duration { min(max(delay, .zero), .seconds(1 << 32)) }

    /// Creates a frame of an image of `canvas`; throws `decoderFault` if it is not inside of it.
    init(_ frame: CustomFrame, on canvas: PixelSize, of format: ImageFormat) throws(CodecError) {
        let (size, left, top) = (frame.size, frame.left, frame.top)
        guard left >= 0, top >= 0, size.width > 0, size.height > 0, left < canvas.width, top < canvas.height,
            size.width <= canvas.width - left, size.height <= canvas.height - top
        else {
            throw .decoderFault(format, "a frame of \(size) at (\(left), \(top)) of an image of \(canvas)")
        }
        self.init(left: left, top: top, size: size, delay: Self.bounded(frame.delay), data: frame.file)
        blend = frame.isBlended ? .over : .source
        disposal =
            switch frame.disposal {
            case .keep: .keep
            case .clear: .background
            case .restore: .previous
            }
    }
}
