/// The frames of an animation, and how they follow each other.
///
/// Found by an ``AnimationWalk`` over the file's structure; no pixel is decoded.
struct AnimationIndex: Sendable {
    /// The format of the file.
    let format: any FormatDescriptor
    /// The header; its frame count and orientation are settled when the index is.
    var header: ImageHeader
    /// How often the animation is shown; 0 is without end.
    var loopCount: Int
    /// Those that are complete, in the order of the file.
    private(set) var frames: [StoredFrame] = []
    /// What these take to be decoded.
    private(set) var cost = AnimationCost()
    /// What every frame's own file begins with: the palette of a GIF, the chunks before the pixels of a PNG.
    var preamble: [UInt8] = []
    /// A Boolean value that indicates whether the file has no more frames than these.
    private(set) var isWhole = false

    private var budget: FrameBudget
    /// A Boolean value that indicates whether nothing is to be seen when the next frame begins.
    private var isBlank = true

    /// An index without frames.
    init(header: ImageHeader, format: any FormatDescriptor, limits: DecodeLimits) {
        self.format = format
        self.header = header
        budget = FrameBudget(of: header, limits: limits)
        loopCount = format.animation?.defaultLoopCount ?? 0
    }

    /// Adds a frame; number and size of all have to be within limits.
    mutating func add(_ frame: StoredFrame) throws(CodecError) {
        try budget.add(frame.size)
        var frame = frame
        frame.markIndependence(onBlank: &isBlank, header.size)
        frames.append(frame)
        cost.add(frame, header.size)
    }

    /// No more frames come, either because these are all, or because the file ends too early or is damaged.
    mutating func settle(isWhole: Bool) {
        self.isWhole = isWhole
        header.frameCount = frames.count
        header.orientationFollowsPixels = false
    }

    /// Returns whether it has all that `known` has, and perhaps more; what was found in one walk costs no look at its bytes.
    func continues(_ known: AnimationIndex) -> Bool {
        header.format == known.header.format && header.size == known.header.size && preamble == known.preamble
            && frames.starts(with: known.frames)
    }

    /// A file of its own for a frame, so that the decoder for stills can decode it.
    func still(_ frame: StoredFrame) -> [UInt8] {
        format.animation?.still(frame, of: self) ?? []
    }

    /// The header of that file, an image of what is visible of the frame.
    func stillHeader(_ frame: StoredFrame) -> ImageHeader {
        var header = header
        header.size = frame.visibleSize(on: self.header.size)
        header.frameCount = 1
        // What a frame does not cover is transparent, and so may be what it does.
        header.hasAlpha = true
        header.orientation = .up
        header.orientationFollowsPixels = false
        return header
    }

    /// A header for the most that the decode of a frame can take.
    var anyFrameHeader: ImageHeader {
        var header = header
        header.hasAlpha = true
        if format.animation?.framesMayBeInterlaced == true { header.isProgressive = true }
        return header
    }
}
