/// An animation whose frames are decoded when they are asked for: GIF, APNG or animated WebP.
///
/// Holds the compressed frames; ``AnimationDecoder`` makes pixels of them. A still image is an animation of one frame, and
/// holds its pixels. ``StreamingAnimation`` makes animations of files that are still arriving.
public struct AnimatedImage: Sendable {
    /// What the frames are made of.
    enum Content: Sendable {
        case still(DecodedImage)
        case animated(AnimationIndex, DecodePlan, StoredColors)
    }

    let content: Content
    let options: DecodeOptions
    let limits: DecodeLimits

    init(_ content: Content, _ options: DecodeOptions, _ limits: DecodeLimits) {
        self.content = content
        self.options = options
        self.limits = limits
    }

    /// The animation in `file`, a whole file; its frames come out as `options` ask.
    ///
    /// Reads the file's structure; of an animation no pixel is decoded yet, of a still image all are. With
    /// ``DecodeOptions/allowsPartial``, of one whose structure ends too early or is corrupt there are the frames that are
    /// complete, or, without any, a still image of what there is of the first. Throws what ``StreamingDecoder`` throws, and
    /// `overLimit` for more frames than ``DecodeLimits/maximumFrames``. Images of `customFormats` are still ones.
    public init(
        _ file: [UInt8], options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits(),
        customFormats: [any CustomFormat] = []
    ) throws(CodecError) {
        guard file.count <= limits.maximumBytes else {
            throw .overLimit(.bytes, value: file.count, limit: limits.maximumBytes)
        }
        let formats = FormatTable(adding: customFormats)
        let head = try FileHead(of: file.span, limits: limits, countsFrames: false, formats: formats)
        guard head?.header.mayBeAnimated == true else {
            self.init(
                still: try StreamingDecoder.decode(
                    file.span, options: options, limits: limits, customFormats: customFormats))
            return
        }
        var animation = StreamingAnimation(options: options, limits: limits)
        // In pieces, so that little is held twice.
        for start in stride(from: 0, to: file.count, by: 64 << 10) {
            try animation.append(file.span.extracting(start..<min(start + 64 << 10, file.count)))
        }
        self = try animation.finish()
    }

    /// An image that has been decoded, as an animation of one frame.
    public init(still: DecodedImage) {
        content = .still(still)
        options = DecodeOptions()
        limits = DecodeLimits()
    }

    /// What the file says of the image; its frame count is known, unless the file is still arriving.
    public var header: ImageHeader {
        switch content {
        case .still(let image): image.header
        case .animated(let index, _, _): index.header
        }
    }

    /// A Boolean value that indicates whether something is missing: of a still image, see ``DecodedImage/isPartial``;
    /// of an animation frames, or what tells that there are no more.
    public var isPartial: Bool {
        switch content {
        case .still(let image): image.isPartial
        case .animated(let index, _, _): !index.isWhole
        }
    }

    /// The size of the frames, scaled and turned.
    public var size: PixelSize {
        switch content {
        case .still(let image): image.pixels.size
        case .animated(_, let plan, _): plan.outputSize
        }
    }

    /// The size the frames would have had unscaled, turned as they are.
    public var originalSize: PixelSize {
        switch content {
        case .still(let image): image.originalSize
        case .animated(_, let plan, _): plan.storedSize.upright(plan.orientation)
        }
    }

    /// The number of frames, at least 1.
    public var frameCount: Int {
        switch content {
        case .still: 1
        case .animated(let index, _, _): index.frames.count
        }
    }

    /// How often the animation is shown; 0 is without end.
    public var loopCount: Int {
        switch content {
        case .still: 1
        case .animated(let index, _, _): index.loopCount
        }
    }

    /// The ICC profile of all frames, as ``DecodedImage/iccProfile``.
    public var iccProfile: [UInt8]? {
        switch content {
        case .still(let image): image.iccProfile
        case .animated(_, _, let colors): colors.profile(options)
        }
    }

    /// How long frame `index` is shown; traps if there is no such frame.
    ///
    /// Frames of a hundredth of a second or less are shown for a tenth, as browsers do. Zero for a still image.
    public func delay(at index: Int) -> Duration {
        switch content {
        case .still: .zero
        case .animated(let animation, _, _): animation.frames[index].shownDelay
        }
    }

    /// How long one run of the animation takes.
    public var duration: Duration {
        (0..<frameCount).reduce(.zero) { $0 + delay(at: $1) }
    }

    /// The maximum number of bytes of memory it takes to decode a frame, besides the file and the frames that are kept.
    ///
    /// Follows from the frames that are known: parts of the canvas that none of them is painted on take no memory.
    public var estimatedBytes: Int {
        switch content {
        case .still: 0
        case .animated(let index, let plan, let colors):
            index.cost.estimatedBytes(
                index.anyFrameHeader, index.format, plan, options,
                colorBytes: colors.workingBytes(options, width: plan.storedSize.width))
        }
    }
}

extension AnimatedImage {
    /// The way of the frames' pixels to sRGB; nil if there is nothing to do.
    ///
    /// They have 8 bits a channel, as the canvas they are painted on, whatever is made of that.
    var transform: ColorTransform? {
        guard case .animated(let index, _, let colors) = content else { return nil }
        return colors.transform(options, pixelCount: index.header.size.area, isDeep: false)
    }
}
