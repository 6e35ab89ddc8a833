/// Decodes one image while its bytes arrive.
///
/// Append the file from its first byte in pieces of any size. When ``plan`` appears the header is known; nothing has
/// been allocated for pixels yet, so the caller may first find room for `plan.estimatedBytes`, then calls ``begin()``.
/// After an error every further call throws the same error, and ``partialImage`` has what was decoded before it. Not
/// `Sendable`: one decoder belongs to one task.
///
/// A decode that succeeds does not mean that the file is undamaged: of a JPEG of several scans at 1/8 of its size or less the
/// scans that add detail are only passed over, bytes that belong to nothing are skipped, of an animation only the first frame
/// is decoded, and checksums of metadata are not compared. ``ImageVerifier`` looks at all of that.
public final class StreamingDecoder {
    /// The header, as soon as enough of the file has come; its frame count is what it says, which may be nil.
    public private(set) var header: ImageHeader?
    /// What the decode will do and cost, known together with ``header``.
    public private(set) var plan: DecodePlan?

    /// What was decoded of a file that turned out to be truncated or corrupt; nil as long as it has not, and if no row was.
    ///
    /// Its pixels are those the image would have had, with what is missing transparent. With
    /// ``DecodeOptions/allowsPartial`` it is the result, and there is no error.
    public internal(set) var partialImage: DecodedImage?

    let options: DecodeOptions
    private let limits: DecodeLimits
    private(set) var failure: CodecError?
    private var bytesSeen = 0
    /// The file so far, until ``begin()``.
    private var beginning: FileBeginning
    private var format: (any FormatDescriptor)?
    private(set) var colors = StoredColors()
    var running: Running?
    var cachedPreview: (plan: PreviewPlan, version: Int, preview: ImagePreview)?

    /// What exists only once decoding has begun.
    struct Running {
        let header: ImageHeader
        let plan: DecodePlan
        let decoder: any RowDecoder
        let pipeline: RowPipeline
        let transform: ColorTransform?
    }

    /// A decoder that has seen nothing yet.
    ///
    /// Files that are no JPEG, PNG, WebP or GIF are offered to `customFormats`.
    public init(
        options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits(),
        customFormats: [any CustomFormat] = []
    ) {
        self.options = options
        self.limits = limits
        beginning = FileBeginning(formats: FormatTable(adding: customFormats))
    }

    /// Takes the next bytes of the file.
    ///
    /// Before ``begin()`` they are only kept, and looked through for the header. Throws as soon as the bytes show that
    /// there will be no image: `unsupportedFormat` after the first 12 (or as many as a custom format is recognized by),
    /// `overLimit`, `corrupt`, `unsupportedFeature`, `zeroPixels`, `truncated` if the image ends before its rows do, and
    /// `decoderFault`.
    public func append(_ bytes: Span<UInt8>) throws(CodecError) {
        try remembering { () throws(CodecError) in
            guard !needsNoMoreBytes else { return }
            bytesSeen += bytes.count
            guard bytesSeen <= limits.maximumBytes else {
                throw .overLimit(.bytes, value: bytesSeen, limit: limits.maximumBytes)
            }
            if let running {
                try orPartial(running) { () throws(CodecError) in
                    try running.decoder.append(bytes, to: running.pipeline)
                }
            } else {
                try take(beginning.append(bytes, limits: limits))
            }
        }
    }

    /// Allocates what ``plan`` announced and decodes what has come.
    ///
    /// To be called once, after ``plan`` has appeared. Does nothing if it has been called before, or too early.
    public func begin() throws(CodecError) {
        try remembering { () throws(CodecError) in
            guard running == nil, partialImage == nil, let header, let plan, let format else { return }
            let decoder = try format.rowDecoder(
                for: header, rowSize: plan.rowSize, limits: limits, toleratesDamage: options.allowsPartial)
            let transform = colors.transform(
                options, pixelCount: plan.scaledSize.area, isDeep: options.pixelFormat == .rgba16)
            let pipeline = RowPipeline(
                rowSize: plan.rowSize, region: plan.rowRegion, scaledSize: plan.scaledSize,
                resampling: options.resampling, orientation: plan.orientation, hasAlpha: header.hasAlpha,
                colors: transform, format: options.pixelFormat)
            let running = Running(
                header: header, plan: plan, decoder: decoder, pipeline: pipeline, transform: transform)
            self.running = running
            let bytes = beginning.bytes
            beginning = FileBeginning()
            try orPartial(running) { () throws(CodecError) in try decoder.append(bytes.span, to: pipeline) }
        }
    }

    /// Looks for the header in everything that has been appended, at the end of a file in which it has not appeared.
    ///
    /// ``append(_:)`` may find it late, when the file has grown by an eighth. Once it is known here, memory can be found for it
    /// before ``finish()`` takes it.
    public func lookForHeaderAtEnd() throws(CodecError) {
        try remembering { () throws(CodecError) in
            if header == nil { try take(beginning.finish(limits: limits)) }
        }
    }

    /// A Boolean value that indicates whether the rest of the file is not wanted: because the image is finished and
    /// ``DecodeOptions/stopsWhenComplete`` asks for it, or because nothing can be decoded behind damage and
    /// ``DecodeOptions/allowsPartial`` lets that pass.
    ///
    /// The caller may then call ``finish()`` without it.
    public var needsNoMoreBytes: Bool {
        if options.allowsPartial, partialImage != nil { return true }
        guard options.stopsWhenComplete, failure == nil, let running else { return false }
        let isUpright = options.ignoresOrientation || !running.header.orientationFollowsPixels
        return isUpright && running.pipeline.isComplete
    }

    /// A Boolean value that indicates whether the end marker of the image has come, so that ``finish()`` is next and
    /// a preview is hardly worth while.
    ///
    /// Not every format tells.
    public var hasReachedEnd: Bool { failure == nil && running?.decoder.hasReachedEnd == true }

    /// The file is at its end: the finished image, or why there is none (`truncated`, if bytes are missing).
    ///
    /// With ``DecodeOptions/allowsPartial`` it may be a partial one. Calls ``begin()`` if nobody has.
    public func finish() throws(CodecError) -> DecodedImage {
        try remembering { () throws(CodecError) in
            if plan == nil { try take(beginning.finish(limits: limits)) }
            try begin()
            cachedPreview = nil
            if let partialImage { return partialImage }
            guard let running else { throw beginning.missingHeader }
            guard !needsNoMoreBytes else { return image(of: running) }
            try orPartial(running) { () throws(CodecError) in
                try running.decoder.finish(to: running.pipeline)
                guard running.pipeline.isComplete else { throw .truncated(running.header.format) }
            }
            return partialImage ?? image(of: running)
        }
    }

    /// Decodes a whole file.
    public static func decode(
        _ bytes: Span<UInt8>, options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits(),
        customFormats: [any CustomFormat] = []
    ) throws(CodecError) -> DecodedImage {
        let decoder = StreamingDecoder(options: options, limits: limits, customFormats: customFormats)
        // In pieces until the header is there, so that little is kept twice.
        var rest = bytes
        while decoder.plan == nil, !rest.isEmpty {
            let piece = min(rest.count, 64 << 10)
            try decoder.append(rest.extracting(first: piece))
            rest = rest.extracting(droppingFirst: piece)
        }
        try decoder.begin()
        try decoder.append(rest)
        return try decoder.finish()
    }
}

@available(*, unavailable)
extension StreamingDecoder: Sendable {}

extension StreamingDecoder {
    /// Throws what was thrown before, or keeps what `body` throws for the next time.
    func remembering<Result>(_ body: () throws(CodecError) -> Result) throws(CodecError) -> Result {
        if let failure { throw failure }
        do {
            return try body()
        } catch {
            failure = error
            running = nil
            beginning = FileBeginning()
            cachedPreview = nil
            throw error
        }
    }

    /// Plans the decode once the header is there.
    private func take(_ head: FileHead?) throws(CodecError) {
        guard plan == nil, let head else { return }
        let (header, colors) = (head.header, head.colors)
        var plan = try DecodePlan(header: header, options: options, format: head.format)
        let width = max(plan.rowSize.width, plan.scaledSize.width)
        plan = try plan.adding(bytes: colors.workingBytes(options, width: width))
        try limits.check(plan.scaledSize, header.format)  // it may be enlarged
        self.plan = plan
        self.header = header
        self.colors = colors
        format = head.format
    }
}
