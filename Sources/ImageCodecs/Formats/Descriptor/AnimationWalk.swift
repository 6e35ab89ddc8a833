/// What each format's folder provides: passes once over the structure of a file while it arrives, and finds its frames.
protocol AnimationWalk: Sendable {
    /// How often an animation is shown whose file does not say it; 0 is without end.
    static var defaultLoopCount: Int { get }

    /// How half-transparent pixels of its frames are laid over others.
    static var blending: FrameBlending { get }

    /// A Boolean value that indicates whether each frame may be interlaced or not, whatever the header says.
    static var framesMayBeInterlaced: Bool { get }

    /// A Boolean value that indicates whether a file whose animation is invalid has a default image that is shown in its place.
    static var hasDefaultImage: Bool { get }

    /// A file of its own for a frame of `index`, so that the decoder for stills can decode it.
    static func still(_ frame: StoredFrame, of index: AnimationIndex) -> [UInt8]

    /// What has been found.
    var index: AnimationIndex { get set }

    /// A Boolean value that indicates whether the end of the animation has come; what follows is not looked at.
    var hasEnded: Bool { get }

    /// A walk that finds the frames for `index`; `beginning` is the file up to where its header is known, or more.
    init(_ index: AnimationIndex, beginning: Span<UInt8>)

    /// The default image, as a file of its own, of a file whose animation turned out to be invalid; nil if there is none.
    var defaultImage: [UInt8]? { get }

    /// Passes over what has come and adds the frames that are complete; `bytes` is the file from its first byte that is not
    /// forgotten.
    mutating func pass(_ bytes: Span<UInt8>) throws(CodecError)

    /// Says how many of `count` bytes are not needed any more; the next step takes the bytes from there on.
    mutating func forget(of count: Int) -> Int

    /// The file is at its end, with `count` bytes that are not forgotten: throws `truncated` or `corrupt` if that is too early.
    func finish(at count: Int) throws(CodecError)
}

extension AnimationWalk {
    static var defaultLoopCount: Int { 0 }
    static var blending: FrameBlending { .exact }
    static var framesMayBeInterlaced: Bool { false }
    static var hasDefaultImage: Bool { false }
    var defaultImage: [UInt8]? { nil }
}

/// How half-transparent pixels are laid over others.
enum FrameBlending: Sendable {
    /// As the specification of PNG has it, rounded.
    case exact
    /// As libwebp approximates it, for the same pixels as everywhere.
    case libwebp
}
