/// An animation whose file is still arriving: each frame can be decoded as soon as its last byte has come.
///
/// Append the file from its first byte in pieces of any size; ``image`` is then the animation as far as it has come, for an
/// ``AnimationDecoder`` that goes on with ``AnimationDecoder/extend(to:)``:
///
/// ```swift
/// var animation = StreamingAnimation()
/// var decoder: AnimationDecoder?
/// while let piece = nextPiece() {
///     let shown = animation.frameCount
///     try animation.append(piece.span)
///     guard let image = animation.image, image.frameCount > shown else { continue }
///     if decoder == nil { decoder = AnimationDecoder(image) } else { decoder?.extend(to: image) }
///     for index in shown..<image.frameCount { show(try decoder?.frame(at: index), for: image.delay(at: index)) }
/// }
/// let whole = try animation.finish()
/// ```
///
/// A frame of a GIF or WebP is complete with its last byte, one of an APNG, which does not say how many chunks a frame has,
/// with the head of the chunk behind it. A still image is one frame when its file is complete, as a WebP is whose
/// orientation follows its frames (``ImageHeader/orientationFollowsPixels``), unless
/// ``DecodeOptions/ignoresOrientation`` is set. Each byte is walked over once, the compressed frames are held, and no pixel
/// of an animation is decoded here.
public struct StreamingAnimation: Sendable {
    /// The header, as soon as enough of the file has come; its frame count is what it says, which may be nil.
    public private(set) var header: ImageHeader?

    private let options: DecodeOptions
    private let limits: DecodeLimits
    private var failure: CodecError?
    private var bytesSeen = 0
    private let customFormats: [any CustomFormat]
    private var beginning: FileBeginning
    private var colors = StoredColors()
    /// What has not been walked over yet; the whole file until there are two frames, because of a single one the image
    /// is made as of any still.
    private var bytes: [UInt8] = []
    /// Nil before the header, and of still images.
    private var walk: (any AnimationWalk)?
    /// Nil while it is not known how the frames are turned, too.
    private var plan: DecodePlan?
    /// A Boolean value that indicates whether the structure of an APNG is invalid, so that its default image is shown.
    private var isInvalid = false

    /// An animation of which nothing has come, its frames to come out as `options` ask.
    ///
    /// Images of `customFormats` are still ones.
    public init(
        options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits(),
        customFormats: [any CustomFormat] = []
    ) {
        self.options = options
        self.limits = limits
        self.customFormats = customFormats
        beginning = FileBeginning(formats: FormatTable(adding: customFormats))
    }

    /// Takes the next bytes of the file.
    ///
    /// Throws as soon as they show that the file is damaged or over a limit, as
    /// ``AnimatedImage/init(_:options:limits:customFormats:)`` does, and the same for every further call; the frames
    /// before that stay. An APNG whose animation is invalid is no error, but its default image
    /// (``ImageHeader/hasInvalidAnimation``). With ``DecodeOptions/allowsPartial`` damage is not thrown, and what
    /// follows it is not looked at.
    public mutating func append(_ newBytes: Span<UInt8>) throws(CodecError) {
        if let failure, !isTolerated(failure) { throw failure }
        do throws(CodecError) {
            bytesSeen += newBytes.count
            guard bytesSeen <= limits.maximumBytes else {
                throw .overLimit(.bytes, value: bytesSeen, limit: limits.maximumBytes)
            }
            try take(newBytes)
        } catch {
            if showsDefaultImage(after: error) {
                isInvalid = true
                return
            }
            failure = error
            guard isTolerated(error) else {
                bytes = []
                throw error
            }
        }
    }

    /// A Boolean value that indicates whether the rest of the file is not wanted: nothing can be found behind damage,
    /// and ``DecodeOptions/allowsPartial`` lets that pass.
    ///
    /// The caller may then call ``finish()`` without it.
    public var needsNoMoreBytes: Bool {
        guard let failure, isTolerated(failure) else { return false }
        return frameCount > 0
    }

    /// The frames that ``image`` has.
    public var frameCount: Int { plan == nil ? 0 : completeFrames }

    /// A Boolean value that indicates whether ``finish()`` decodes an image, because there are not several frames, or
    /// they do not count.
    package var decodesImageAtEnd: Bool { isInvalid || frameCount <= 1 }

    /// The animation of the frames that are complete, nil while there is none; it counts as partial, and its header's frame
    /// count is that of ``header``.
    ///
    /// Also there after an error.
    public var image: AnimatedImage? {
        guard let walk, let plan, frameCount > 0 else { return nil }
        return AnimatedImage(.animated(walk.index, plan, colors), options, limits)
    }

    /// The file is at its end: the whole animation, or why there is none; to be called once.
    ///
    /// With ``DecodeOptions/allowsPartial``, of an animation that ends too early or is damaged, the frames that are complete;
    /// without any, what can be decoded of the first, as a still image. An image of a single frame is decoded here.
    public mutating func finish() throws(CodecError) -> AnimatedImage {
        do throws(CodecError) {
            if let failure { throw failure }
            // Late, because looking for it in ever longer beginnings costs time.
            if header == nil, let head = try beginning.finish(limits: limits) {
                try begin(head)
                try findFrames()
            }
            guard let walk else { return try still() }
            if isInvalid { return try defaultImage() }
            try walk.finish(at: bytes.count)
        } catch {
            failure = error
            guard isTolerated(error) else { throw error }
        }
        guard var index = walk?.index, failure == nil ? index.frames.count > 1 : !index.frames.isEmpty else {
            return try still()
        }
        index.settle(isWhole: failure == nil)
        return AnimatedImage(.animated(index, try index.plan(options, limits, colors), colors), options, limits)
    }

    private var completeFrames: Int { walk?.index.frames.count ?? 0 }

    /// Returns whether `error` is one of the structure of an APNG, whose default image can be shown instead, as browsers do.
    ///
    /// Where partial images are allowed, the frames that were complete are.
    private func showsDefaultImage(after error: CodecError) -> Bool {
        guard case .corrupt = error, let walk, type(of: walk).hasDefaultImage else { return false }
        return !(options.allowsPartial && frameCount > 0) && (completeFrames < 2 || walk.defaultImage != nil)
    }

    private func isTolerated(_ error: CodecError) -> Bool { options.allowsPartial && error.isDamage && walk != nil }

    private mutating func take(_ newBytes: Span<UInt8>) throws(CodecError) {
        if header == nil {
            guard let head = try beginning.append(newBytes, limits: limits) else { return }
            try begin(head)
        } else if walk?.hasEnded != true, !needsNoMoreBytes {
            bytes.append(newBytes)
        } else {
            return
        }
        try findFrames()
    }

    /// Takes what is known with the header.
    private mutating func begin(_ head: FileHead) throws(CodecError) {
        let header = head.header
        self.header = header
        colors = head.colors
        bytes = beginning.bytes
        beginning = FileBeginning()
        if header.mayBeAnimated {
            let index = AnimationIndex(header: header, format: head.format, limits: limits)
            walk = head.format.animation?.init(index, beginning: bytes.span)
            try makePlan()
        }
    }

    private mutating func findFrames() throws(CodecError) {
        guard failure == nil else { return }
        try walkOn()
        try makePlan()
        guard completeFrames > 1 else { return }
        if let passed = walk?.forget(of: bytes.count), passed > 0 { bytes.removeFirst(passed) }
    }

    private mutating func walkOn() throws(CodecError) {
        let bytes = bytes
        try walk?.pass(bytes.span)
    }

    /// As soon as it is known how the frames are turned.
    private mutating func makePlan() throws(CodecError) {
        guard plan == nil, let index = walk?.index else { return }
        guard options.ignoresOrientation || !index.header.orientationFollowsPixels else { return }
        plan = try index.plan(options, limits, colors)
    }

    /// The file as a still image, even if it is one of several frames of which none came whole.
    private func still() throws(CodecError) -> AnimatedImage {
        guard header != nil else {
            return AnimatedImage(still: try still(beginning.bytes.span))
        }
        var image = try still(bytes.span)
        // Even if the first frame of a damaged animation is whole.
        if failure != nil { image.isPartial = true }
        return AnimatedImage(still: image)
    }

    /// The default image of an APNG whose animation is invalid: of the whole file, or what is kept of it.
    private func defaultImage() throws(CodecError) -> AnimatedImage {
        let file = completeFrames < 2 ? bytes : walk?.defaultImage ?? []
        var image = try still(file.span)
        image.header.frameCount = 1
        image.header.hasInvalidAnimation = true
        return AnimatedImage(still: image)
    }

    private func still(_ file: Span<UInt8>) throws(CodecError) -> DecodedImage {
        try StreamingDecoder.decode(file, options: options, limits: limits, customFormats: customFormats)
    }
}

extension AnimationIndex {
    /// How its frames are scaled and turned, and what a decode of one costs.
    fileprivate func plan(
        _ options: DecodeOptions, _ limits: DecodeLimits, _ colors: StoredColors
    ) throws(CodecError) -> DecodePlan {
        let whole = anyFrameHeader
        let plan = try DecodePlan(header: whole, options: options, format: format)
        try limits.check(plan.scaledSize, header.format)  // it may be enlarged
        // The canvas, and what is saved of it: no frame that comes takes more.
        return try plan.adding(bytesPerPixel: 8)
            .adding(bytes: colors.workingBytes(options, width: plan.storedSize.width))
    }
}
