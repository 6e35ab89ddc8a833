/// An animation whose frames are decoded on demand: GIF, APNG, animated WebP, or a custom format.
///
/// An animated image holds the compressed frames; ``AnimationDecoder`` decodes them. A still image is represented as an
/// animation of one frame and holds its pixels. Use ``StreamingAnimation`` for files that are still arriving.
public struct AnimatedImage: Sendable {
    /// The source of the frames.
    enum Content: Sendable {
        case still(DecodedImage)
        case animated(AnimationIndex, DecodePlan, StoredColors)
    }

    let content: Content
    package let options: DecodeOptions
    let limits: DecodeLimits
    /// The change to the frames; `nil` for none.
    package internal(set) var frameTransform: (any FrameTransform)?

    init(_ content: Content, _ options: DecodeOptions, _ limits: DecodeLimits) {
        self.content = content
        self.options = options
        self.limits = limits
    }

    /// Creates an animation from `file`, a complete file, with frames decoded according to `options`.
    ///
    /// Parses the structure of the file. The pixels of an animation are not decoded yet; those of a still image are.
    /// If the structure ends early or is corrupt, ``DecodeOptions/allowsPartial`` keeps the complete frames or, if
    /// there are none, a still image of the part of the first frame that can be decoded. Throws the errors that
    /// ``StreamingDecoder`` throws, and `overLimit` for more frames than ``DecodeLimits/maximumFrames``. Files
    /// without a built-in format are offered to `customFormats`.
    public init(
        _ file: [UInt8], options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits(),
        customFormats: [any CustomFormat] = []
    ) throws(CodecError) {
        guard file.count <= limits.maximumBytes else {
            throw .overLimit(.bytes, value: file.count, limit: limits.maximumBytes)
        }
        let formats = FormatTable(adding: customFormats)
        let head = try FileHead(
            of: file.span, isComplete: true, limits: limits, countsFrames: false, formats: formats)
        guard head?.header.mayBeAnimated == true else {
            self.init(
                still: try StreamingDecoder.decode(
                    file.span, options: options, limits: limits, customFormats: customFormats))
            return
        }
        var animation = StreamingAnimation(options: options, limits: limits, customFormats: customFormats)
        // In pieces, to hold as little as possible twice.
        for start in stride(from: 0, to: file.count, by: 64 << 10) {
            try animation.append(file.span.extracting(start..<min(start + 64 << 10, file.count)))
        }
        self = try animation.finish()
    }

    /// Creates an animation of one frame from a decoded image.
    public init(still: DecodedImage) {
        content = .still(still)
        options = DecodeOptions()
        limits = DecodeLimits()
    }

    /// The properties of the image according to the file.
    ///
    /// The frame count is known unless the file is still arriving, or ``DecodeOptions/stopsWhenComplete`` is set and
    /// there is only one frame.
    public var header: ImageHeader {
        switch content {
        case .still(let image): image.header
        case .animated(let index, _, _): index.header
        }
    }

    /// A Boolean value that indicates whether data is missing: frames or the end marker of an animation, or pixels of
    /// a still image (see ``DecodedImage/isPartial``).
    public var isPartial: Bool {
        switch content {
        case .still(let image): image.isPartial
        case .animated(let index, _, _): !index.isComplete
        }
    }

    /// The size of the frames in pixels, after scaling and orientation.
    public var size: PixelSize {
        switch content {
        case .still(let image): image.pixels.size
        case .animated(_, let plan, _): frameTransform?.outputSize ?? plan.outputSize
        }
    }

    /// The size the frames would have without scaling, in pixels, after orientation.
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

    /// The number of times the animation plays; 0 means forever.
    public var repetitionCount: Int {
        switch content {
        case .still: 1
        case .animated(let index, _, _): index.repetitionCount
        }
    }

    /// The ICC profile of all frames; see ``DecodedImage/iccProfile``.
    public var iccProfile: [UInt8]? {
        switch content {
        case .still(let image): image.iccProfile
        case .animated(_, _, let colors): colors.profile(options)
        }
    }

    /// Returns the display time of frame `index`, counted from 0.
    ///
    /// The display time of a still image is zero. Frames with a delay of 10 ms or less are shown for 100 ms, as in
    /// browsers. Traps if an animation has no such frame.
    public func delay(at index: Int) -> Duration {
        switch content {
        case .still: .zero
        case .animated(let animation, _, _): animation.frames[index].shownDelay
        }
    }

    /// The duration of one run of the animation.
    public var duration: Duration {
        (0..<frameCount).reduce(.zero) { $0 + delay(at: $1) }
    }

    /// The maximum memory needed to decode a frame, in bytes, in addition to the file and the recent frames that an
    /// ``AnimationDecoder`` retains.
    ///
    /// Calculated from the known frames: parts of the canvas that no frame covers use no memory.
    public var estimatedBytes: Int {
        switch content {
        case .still: 0
        case .animated(let index, let plan, let colors):
            index.cost.estimatedBytes(
                index.anyFrameHeader, index.format, plan, options,
                colorBytes: colors.workingBytes(options, width: plan.storedSize.width)
            ).saturatingSum(frameTransform?.workingBytes ?? 0)
        }
    }
}

extension AnimatedImage {
    /// The decoded image, if it is a still one.
    package var still: DecodedImage? {
        if case .still(let image) = content { image } else { nil }
    }

    /// Returns the animation with each frame changed by `transform` only; a still image does not change.
    package func changingFrames(by transform: any FrameTransform) -> AnimatedImage {
        var image = self
        image.frameTransform = transform
        return image
    }
}

extension Int {
    /// Returns the sum with a number that is not negative, or the greatest integer.
    package func saturatingSum(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

extension AnimatedImage {
    /// The transform from the frames' colors to sRGB, or `nil` if none is needed.
    ///
    /// Always for 8 bits per channel, the format of the canvas, regardless of the output format.
    var transform: ColorTransform? {
        guard case .animated(let index, _, let colors) = content else { return nil }
        return colors.transform(options, pixelCount: index.header.size.area, is16Bit: false)
    }
}
