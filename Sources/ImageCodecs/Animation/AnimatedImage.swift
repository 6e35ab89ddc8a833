/// An animation whose frames are decoded when they are asked for: GIF, APNG or animated WebP.
///
/// Holds the compressed file, and knows where its frames are; ``AnimationDecoder`` makes them. A still image is an
/// animation of one frame, and holds its pixels.
public struct AnimatedImage: Sendable {
    /// What the frames are made of.
    enum Content: Sendable {
        case still(DecodedImage)
        case animated(file: [UInt8], AnimationIndex, DecodePlan, StoredColors)
    }

    let content: Content
    let options: DecodeOptions
    let limits: DecodeLimits

    /// The animation in `file`, a whole file; its frames come out as `options` ask.
    ///
    /// Reads the file's structure; of an animation no pixel is decoded yet, of a still image all are. With
    /// ``DecodeOptions/allowsPartial``, one whose structure ends too early or is corrupt becomes a still image of its first
    /// frame. Throws what
    /// ``StreamingDecoder`` throws, and `overLimit` for more frames than ``DecodeLimits/maximumFrames``.
    public init(
        _ file: [UInt8], options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) {
        guard file.count <= limits.maximumBytes else {
            throw .overLimit(.bytes, value: file.count, limit: limits.maximumBytes)
        }
        if let (header, colors) = try ImageHeader.probed(file.span, limits: limits), header.mayBeAnimated {
            content = try .animated(file, header, colors, options, limits)
        } else {
            content = .still(try StreamingDecoder.decode(file.span, options: options, limits: limits))
        }
        self.options = options
        self.limits = limits
    }

    /// An image that has been decoded, as an animation of one frame.
    public init(still: DecodedImage) {
        content = .still(still)
        options = DecodeOptions()
        limits = DecodeLimits()
    }

    /// What the file says of the image; its frame count is known.
    public var header: ImageHeader {
        switch content {
        case .still(let image): image.header
        case .animated(_, let index, _, _): index.header
        }
    }

    /// Whether something is missing, see ``DecodedImage/isPartial``.
    public var isPartial: Bool {
        switch content {
        case .still(let image): image.isPartial
        case .animated: false
        }
    }

    /// The size of the frames, scaled and turned.
    public var size: PixelSize {
        switch content {
        case .still(let image): image.pixels.size
        case .animated(_, _, let plan, _): plan.outputSize
        }
    }

    /// The size the frames would have had unscaled, turned as they are.
    public var originalSize: PixelSize {
        switch content {
        case .still(let image): image.originalSize
        case .animated(_, _, let plan, _): plan.storedSize.upright(plan.orientation)
        }
    }

    /// The number of frames, at least 1.
    public var frameCount: Int {
        switch content {
        case .still: 1
        case .animated(_, let index, _, _): index.frames.count
        }
    }

    /// How often the animation is shown; 0 is without end.
    public var loopCount: Int {
        switch content {
        case .still: 1
        case .animated(_, let index, _, _): index.loopCount
        }
    }

    /// The ICC profile of all frames, as ``DecodedImage/iccProfile``.
    public var iccProfile: [UInt8]? {
        switch content {
        case .still(let image): image.iccProfile
        case .animated(_, _, _, let colors): colors.profile(options)
        }
    }

    /// How long frame `index` is shown; traps if there is no such frame.
    ///
    /// Frames of a hundredth of a second or less are shown for a tenth, as browsers do. Zero for a still image.
    public func delay(at index: Int) -> Duration {
        switch content {
        case .still: .zero
        case .animated(_, let animation, _, _): animation.frames[index].shownDelay
        }
    }

    /// How long one run of the animation takes.
    public var duration: Duration {
        (0..<frameCount).reduce(.zero) { $0 + delay(at: $1) }
    }

    /// Most bytes of memory it takes to decode a frame, besides the file and the frames that are kept.
    public var estimatedBytes: Int {
        switch content {
        case .still: 0
        case .animated(_, _, let plan, _): plan.estimatedBytes
        }
    }
}

extension AnimatedImage {
    /// The way of the frames' pixels to sRGB; nil if there is nothing to do.
    var transform: ColorTransform? {
        guard case .animated(_, let index, _, let colors) = content else { return nil }
        return colors.transform(options, pixelCount: index.header.size.area)
    }
}

extension ImageHeader {
    /// Whether the file has more than one frame, or it is not known yet how many.
    public var mayBeAnimated: Bool { frameCount != 1 }
}

extension AnimatedImage.Content {
    fileprivate static func animated(
        _ file: [UInt8], _ header: ImageHeader, _ colors: StoredColors, _ options: DecodeOptions, _ limits: DecodeLimits
    ) throws(CodecError) -> Self {
        do {
            let index = try AnimationIndex(file.span, header: header, limits: limits)
            let plan = try index.plan(options, limits)
            let more = colors.workingBytes(options, width: plan.storedSize.width)
            return .animated(file: file, index, try plan.adding(bytes: more), colors)
        } catch {
            guard options.allowsPartial, error.isDamage else { throw error }
            var first = try StreamingDecoder.decode(file.span, options: options, limits: limits)
            // Even if that is whole.
            first.isPartial = true
            return .still(first)
        }
    }
}

extension AnimationIndex {
    /// How its frames are scaled and turned, and what a decode of one costs.
    fileprivate func plan(_ options: DecodeOptions, _ limits: DecodeLimits) throws(CodecError) -> DecodePlan {
        var whole = header
        whole.hasAlpha = true
        let plan = try DecodePlan(header: whole, options: options, decoder: header.format.rowDecoder)
        try limits.check(plan.scaledSize, header.format)  // it may be enlarged
        // The canvas, and what one frame covers of it.
        return try plan.adding(bytesPerPixel: 8)
    }
}
