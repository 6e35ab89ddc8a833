/// An animation whose file is still arriving: each frame can be decoded as soon as its last byte has arrived.
///
/// Append the file from its first byte in pieces of any size. ``image`` is the part of the animation that has arrived.
/// Pass it to an ``AnimationDecoder``, and pass later versions of it to ``AnimationDecoder/extend(to:)``:
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
/// A frame of a GIF or WebP is complete with its last byte. A frame of an APNG, which does not declare the number of
/// its chunks, is complete with the header of the chunk that follows it. If the header declares a still image,
/// ``image`` remains `nil`, and only ``finish()`` returns the image, as a single frame. The frames of a WebP whose
/// orientation follows them (``ImageHeader/hasTrailingOrientation``) become available when it has arrived, unless
/// ``DecodeOptions/ignoresOrientation`` is set. Each byte is parsed once. A streaming animation holds the compressed
/// frames and does not decode their pixels.
public struct StreamingAnimation: Sendable {
    /// The header, available as soon as enough of the file has arrived.
    ///
    /// Its frame count is the declared one, which can be `nil`.
    public private(set) var header: ImageHeader?

    private let options: DecodeOptions
    private let limits: DecodeLimits
    private var failure: CodecError?
    private var bytesSeen = 0
    private let customFormats: [any CustomFormat]
    private var beginning: FileBeginning
    private var colors = StoredColors()
    /// The bytes that have not been parsed yet.
    ///
    /// Until there are two frames this is the whole file, because a single frame is decoded as a still image.
    private var bytes: [UInt8] = []
    /// The parser; `nil` before the header is known, and for still images.
    private var parser: (any AnimationParser)?
    /// The decode plan; `nil` until the header and the orientation of the frames are known.
    private var plan: DecodePlan?
    /// A Boolean value that indicates whether the structure of an APNG is invalid, so that its default image is shown
    /// instead.
    private var isInvalid = false

    /// Creates an empty animation whose frames are decoded according to `options`.
    ///
    /// Files without a built-in format are offered to `customFormats`.
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
    /// Throws as soon as the file proves to be damaged or over a limit, like
    /// ``AnimatedImage/init(_:options:limits:customFormats:)``, and throws the same error from every further call;
    /// earlier frames stay available. An APNG with an invalid animation is not an error: its default image is used
    /// (``ImageHeader/hasInvalidAnimation``). With ``DecodeOptions/allowsPartial``, damage is not thrown, and the
    /// data after it is ignored.
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

    /// A Boolean value that indicates whether the remainder of the file is not needed, because it follows damage that
    /// ``DecodeOptions/allowsPartial`` accepts.
    ///
    /// The caller can then call ``finish()`` without the remainder.
    public var needsNoMoreBytes: Bool {
        guard let failure, isTolerated(failure) else { return false }
        return frameCount > 0
    }

    /// The number of frames that ``image`` has.
    public var frameCount: Int { plan == nil ? 0 : completeFrames }

    /// A Boolean value that indicates whether ``finish()`` decodes an image, because there are fewer than two frames
    /// or the animation is invalid.
    package var decodesImageAtEnd: Bool { isInvalid || frameCount <= 1 }

    /// The declared number of bytes in the file, which limits the memory in which it is collected; `nil` if unknown.
    package var expectedLength: Int? {
        get { beginning.expectedLength }
        set { beginning.expectedLength = newValue }
    }

    /// A Boolean value that indicates whether ``finish()`` looks for all frames, because the format needs the whole file.
    package var findsFramesAtEnd: Bool { beginning.wholeFileFormat != nil }

    /// An animation of the complete frames, or `nil` while there are none.
    ///
    /// Its ``AnimatedImage/isPartial`` is `true`. The frame count in its header is the one that the file declares, as in
    /// ``header``, not the number of complete frames. The animation stays available after an error.
    public var image: AnimatedImage? {
        guard let parser, let plan, frameCount > 0 else { return nil }
        return AnimatedImage(.animated(parser.index, plan, colors), options, limits)
    }

    /// Ends the file and returns the whole animation, or throws the reason why there is none.
    ///
    /// Call this method once. With ``DecodeOptions/allowsPartial``, an animation that ends early or is damaged
    /// consists of its complete frames or, if there are none, of a still image of the decodable part of the first
    /// frame. An image with a single frame is decoded here.
    public mutating func finish() throws(CodecError) -> AnimatedImage {
        do throws(CodecError) {
            if let failure { throw failure }
            // Only now, because searching repeatedly in a growing prefix takes time.
            if header == nil, let head = try beginning.finish(limits: limits) {
                try begin(head)
                try findFrames()
            }
            guard parser != nil else { return try still() }
            if isInvalid { return try defaultImage() }
            try parser?.finish(at: bytes.count)
        } catch {
            failure = error
            guard isTolerated(error) else { throw error }
        }
        guard var index = parser?.index, failure == nil ? index.frames.count > 1 : !index.frames.isEmpty else {
            return try still()
        }
        index.settle(isComplete: failure == nil)
        return AnimatedImage(.animated(index, try index.plan(options, limits, colors), colors), options, limits)
    }

    private var completeFrames: Int { parser?.index.frames.count ?? 0 }

    /// Returns whether `error` is a structural error of an APNG whose default image can be shown instead, as browsers
    /// do.
    ///
    /// If partial images are allowed, the complete frames are shown instead.
    private func showsDefaultImage(after error: CodecError) -> Bool {
        guard case .corrupt = error, let parser, type(of: parser).hasDefaultImage else { return false }
        return !(options.allowsPartial && frameCount > 0) && (completeFrames < 2 || parser.defaultImage != nil)
    }

    private func isTolerated(_ error: CodecError) -> Bool { options.allowsPartial && error.isDamage && parser != nil }

    private mutating func take(_ newBytes: Span<UInt8>) throws(CodecError) {
        if header == nil {
            guard let head = try beginning.append(newBytes, limits: limits) else { return }
            try begin(head)
        } else if parser?.hasEnded != true, !needsNoMoreBytes {
            bytes.append(newBytes)
        } else {
            return
        }
        try findFrames()
    }

    /// Stores the information that becomes known with the header.
    private mutating func begin(_ head: FileHead) throws(CodecError) {
        let header = head.header
        self.header = header
        colors = head.colors
        bytes = beginning.bytes
        beginning = FileBeginning()
        if header.mayBeAnimated {
            let index = AnimationIndex(header: header, format: head.format, limits: limits)
            parser = head.format.animation?.init(index, beginning: bytes.span)
            try makePlan()
        }
    }

    private mutating func findFrames() throws(CodecError) {
        guard failure == nil else { return }
        try parse()
        try makePlan()
        guard completeFrames > 1 else { return }
        if let passed = parser?.forget(of: bytes.count), passed > 0 { bytes.removeFirst(passed) }
    }

    private mutating func parse() throws(CodecError) {
        let bytes = bytes
        try parser?.consume(bytes.span)
    }

    /// Creates the plan as soon as the orientation of the frames is known.
    private mutating func makePlan() throws(CodecError) {
        guard plan == nil, let index = parser?.index else { return }
        guard options.ignoresOrientation || !index.header.hasTrailingOrientation else { return }
        plan = try index.plan(options, limits, colors)
    }

    /// Returns the file as a still image, even if it is an animation of which no frame is complete.
    private func still() throws(CodecError) -> AnimatedImage {
        guard header != nil else {
            return AnimatedImage(still: try still(beginning.bytes.span))
        }
        var image = try still(bytes.span)
        // Even if the first frame of a damaged animation is complete.
        if failure != nil { image.isPartial = true }
        return AnimatedImage(still: image)
    }

    /// Returns the default image of an APNG whose animation is invalid, decoded from the whole file or the retained
    /// part of it.
    private func defaultImage() throws(CodecError) -> AnimatedImage {
        let file = completeFrames < 2 ? bytes : parser?.defaultImage ?? []
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
    /// Returns the scale and orientation of the frames and the cost of decoding one.
    fileprivate func plan(
        _ options: DecodeOptions, _ limits: DecodeLimits, _ colors: StoredColors
    ) throws(CodecError) -> DecodePlan {
        let whole = anyFrameHeader
        let plan = try DecodePlan(header: whole, options: options, format: format)
        try limits.check(plan.scaledSize, header.format)  // can be enlarged
        // The canvas and its saved pixels: no later frame needs more.
        return try plan.adding(bytesPerPixel: 8)
            .adding(bytes: colors.workingBytes(options, width: plan.storedSize.width))
    }
}
