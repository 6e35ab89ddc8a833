/// A format's incremental parser of the structure of animations, which finds their frames while a file arrives.
protocol AnimationParser: Sendable {
    /// The number of times an animation plays if its file does not declare it; 0 means forever.
    static var defaultRepetitionCount: Int { get }

    /// The method for blending translucent pixels with those below.
    static var blending: FrameBlending { get }

    /// A Boolean value that indicates whether each frame can be interlaced or not, regardless of the header.
    static var framesMayBeInterlaced: Bool { get }

    /// A Boolean value that indicates whether a file with an invalid animation has a default image to show instead.
    static var hasDefaultImage: Bool { get }

    /// Returns a complete file that contains only a frame of `index`, for the decoder of still images.
    static func still(_ frame: StoredFrame, of index: AnimationIndex) -> [UInt8]

    /// The frames found so far.
    var index: AnimationIndex { get set }

    /// A Boolean value that indicates whether the end of the animation has been reached; the bytes that follow are
    /// ignored.
    var hasEnded: Bool { get }

    /// Creates a parser that adds frames to `index`. `beginning` is the file at least up to where its header is
    /// known.
    init(_ index: AnimationIndex, beginning: Span<UInt8>)

    /// The default image of a file whose animation is invalid, as a complete file; `nil` if there is none.
    var defaultImage: [UInt8]? { get }

    /// Parses the received bytes and adds the frames that are complete. `bytes` is the file from the first byte that
    /// has not been discarded.
    mutating func consume(_ bytes: Span<UInt8>) throws(CodecError)

    /// Returns how many of `count` bytes are no longer needed; the next call takes the bytes from there on.
    mutating func forget(of count: Int) -> Int

    /// Ends the file, with `count` bytes that have not been discarded, and adds the warnings to the header of ``index``.
    /// Throws `truncated` or `corrupt` if it is incomplete.
    mutating func finish(at count: Int) throws(CodecError)
}

extension AnimationParser {
    static var defaultRepetitionCount: Int { 0 }
    static var blending: FrameBlending { .exact }
    static var framesMayBeInterlaced: Bool { false }
    static var hasDefaultImage: Bool { false }
    var defaultImage: [UInt8]? { nil }
}

/// The method for blending translucent pixels with those below.
enum FrameBlending: Sendable {
    /// The exact result, rounded to the nearest integer, as in the PNG specification.
    case exact
    /// The approximation of libwebp, for the same pixels as in other software.
    case libwebp
}
