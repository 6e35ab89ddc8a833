/// What each format's folder provides: passes once over the structure of a file while it arrives, and finds its frames.
protocol AnimationWalk: Sendable {
    /// What has been found.
    var index: AnimationIndex { get set }

    /// Whether the end of the animation has come; what follows is not looked at.
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
    var defaultImage: [UInt8]? { nil }
}

extension BuiltInFormat {
    /// The walk for this format; nil if it has no animations.
    var animationWalk: (any AnimationWalk.Type)? {
        switch self {
        case .gif: GIFAnimationWalk.self
        case .png: APNGWalk.self
        case .webp: WebPAnimationWalk.self
        case .jpeg: nil
        }
    }
}
