/// Decodes one image while its bytes arrive.
///
/// Append the file from its first byte in pieces of any size. When ``plan`` appears the header is known; nothing has
/// been allocated for pixels yet, so the caller may first find room for `plan.estimatedBytes`, then calls ``begin()``.
/// After an error every further call throws the same error, and ``partialImage`` has what was decoded before it. Not
/// `Sendable`: one decoder belongs to one task.
public final class StreamingDecoder {
    /// The header, as soon as enough of the file has come.
    public private(set) var header: ImageHeader?
    /// What the decode will do and cost, known together with ``header``.
    public private(set) var plan: DecodePlan?

    /// What was decoded of a file that turned out to be truncated or corrupt; nil as long as it has not, and if no row was.
    ///
    /// Its pixels are those the image would have had, with what is missing transparent. With
    /// ``DecodeOptions/allowsPartial`` it is the result, and there is no error.
    public private(set) var partialImage: DecodedImage?

    private let options: DecodeOptions
    private let limits: DecodeLimits
    private var failure: CodecError?
    private var bytesSeen = 0
    /// The file so far, until ``begin()``.
    private var beginning = FileBeginning()
    private var colors = StoredColors()
    private var running: Running?
    private var cachedPreview: (plan: PreviewPlan, version: Int, preview: ImagePreview)?

    /// What exists only once decoding has begun.
    private struct Running {
        let header: ImageHeader
        let plan: DecodePlan
        let decoder: any RowDecoder
        let pipeline: RowPipeline
        let transform: ColorTransform?
    }

    /// A decoder that has seen nothing yet.
    public init(options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits()) {
        self.options = options
        self.limits = limits
    }

    /// Takes the next bytes of the file.
    ///
    /// Before ``begin()`` they are only kept, and looked through for the header. Throws as soon as the bytes show that
    /// there will be no image: `unsupportedFormat` after the first 12, `overLimit`, `corrupt`, `unsupportedFeature`,
    /// `zeroPixels`, and `truncated` if the image ends before its rows do.
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
            guard running == nil, partialImage == nil, let header, let plan else { return }
            let decoder = try header.format.rowDecoder.init(
                header: header, rowSize: plan.rowSize, limits: limits, toleratesDamage: options.allowsPartial)
            let transform = colors.transform(options, pixelCount: plan.scaledSize.area)
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

    /// Whether the rest of the file is not wanted: because the image is finished and ``DecodeOptions/stopsWhenComplete`` asks
    /// for it, or because nothing can be decoded behind damage and ``DecodeOptions/allowsPartial`` lets that pass.
    ///
    /// The caller may then call ``finish()`` without it.
    public var needsNoMoreBytes: Bool {
        if options.allowsPartial, partialImage != nil { return true }
        guard options.stopsWhenComplete, failure == nil, let running else { return false }
        let isUpright = options.ignoresOrientation || !running.header.orientationFollowsPixels
        return isUpright && running.pipeline.isComplete
    }

    /// Grows whenever ``preview(maximumSide:)`` would show more than before; 0 while there is nothing to show.
    public var previewVersion: Int {
        guard failure == nil, let running else { return 0 }
        return (running.decoder.previewScan ?? 0) + running.pipeline.completeRows
    }

    /// Which scan or pass of a progressive image ``preview(maximumSide:)`` would show, from 1; nil of others, and while there is none.
    public var previewScan: Int? { failure == nil ? running?.decoder.previewScan : nil }

    /// Whether the end marker of the image has come, so that ``finish()`` is next and a preview is hardly worth while.
    ///
    /// Not every format tells.
    public var hasReachedEnd: Bool { failure == nil && running?.decoder.hasReachedEnd == true }

    /// The image as far as it has come, or nil while there is nothing to show.
    ///
    /// For files whose rows come once this is a copy of them. For progressive ones the latest complete scan is rendered
    /// whole, and kept until there is a newer one. An image with a side over `maximumSide` is shown smaller: a progressive
    /// JPEG at 1/2, 1/4 or 1/8, which takes a fraction of the time; others are scaled down to that side.
    public func preview(maximumSide: Int = .max) throws(CodecError) -> ImagePreview? {
        try remembering { () throws(CodecError) in
            guard let running else { return nil }
            let scan = running.decoder.previewScan
            let plan = PreviewPlan(of: running.plan, maximumSide: maximumSide) {
                running.decoder.previewRowSize(maximumSide: $0)
            }
            // In the last pass of an interlaced image rows become final, while those below have come already, more coarsely.
            if running.pipeline.completeRows > 0, scan == nil || running.pipeline.isComplete {
                return copy(of: running.pipeline, scan: scan, as: plan)
            }
            guard let scan else { return nil }
            let version = previewVersion
            if let (cachedPlan, cachedVersion, preview) = cachedPreview, cachedPlan == plan, cachedVersion == version {
                return preview
            }
            let pipeline = RowPipeline(
                rowSize: plan.rowSize, region: plan.rowRegion, scaledSize: plan.scaledSize,
                resampling: options.resampling, orientation: running.plan.orientation,
                hasAlpha: running.header.hasAlpha, colors: running.transform, format: options.pixelFormat)
            try running.decoder.renderPreview(size: plan.rowSize, to: pipeline)
            let preview = ImagePreview(pixels: pipeline.pixels, completeRows: pipeline.completeRows, scan: scan)
            cachedPreview = (plan, version, preview)
            return preview
        }
    }

    /// The file is at its end: the finished image, or why there is none (`truncated`, if bytes are missing).
    ///
    /// With ``DecodeOptions/allowsPartial`` it may be a partial one. Calls ``begin()`` if nobody has.
    public func finish() throws(CodecError) -> DecodedImage {
        try remembering { () throws(CodecError) in
            if plan == nil { try take(beginning.probe(limits: limits)) }
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
        _ bytes: Span<UInt8>, options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) -> DecodedImage {
        let decoder = StreamingDecoder(options: options, limits: limits)
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
    private func remembering<Result>(_ body: () throws(CodecError) -> Result) throws(CodecError) -> Result {
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

    /// Keeps what was decoded if `body` finds the file truncated or corrupt, and throws unless that will do.
    private func orPartial(_ running: Running, _ body: () throws(CodecError) -> Void) throws(CodecError) {
        do {
            try body()
        } catch {
            guard error.isDamage else { throw error }
            running.decoder.salvage(to: running.pipeline)
            running.pipeline.flush()
            if running.pipeline.completeRows > 0 { partialImage = image(of: running, isPartial: true) }
            guard partialImage != nil, options.allowsPartial else { throw error }
            // The codec's memory is not needed any more.
            self.running = nil
            cachedPreview = nil
        }
    }

    /// Plans the decode once the header is there.
    private func take(_ found: (header: ImageHeader, colors: StoredColors)?) throws(CodecError) {
        guard plan == nil, let (header, colors) = found else { return }
        var plan = try DecodePlan(header: header, options: options, decoder: header.format.rowDecoder)
        let width = max(plan.rowSize.width, plan.scaledSize.width)
        plan = try plan.adding(bytes: colors.workingBytes(options, width: width))
        try limits.check(plan.scaledSize, header.format)  // it may be enlarged
        self.plan = plan
        self.header = header
        self.colors = colors
    }

    /// What has come of an image whose rows come once.
    private func copy(of pipeline: RowPipeline, scan: Int?, as plan: PreviewPlan) -> ImagePreview {
        let pixels = pipeline.pixels
        guard let size = running?.plan.scaledSize, size != plan.scaledSize, let orientation = running?.plan.orientation
        else { return ImagePreview(pixels: pixels, completeRows: pipeline.completeRows, scan: scan) }
        // What has not come is transparent, whatever the image itself may be.
        return ImagePreview(
            pixels: pixels.turned(
                .up, scaledTo: plan.scaledSize.upright(orientation), resampling: Resampling(filter: .box),
                hasAlpha: true),
            completeRows: pipeline.completeRows * plan.scaledSize.height / size.height, scan: scan)
    }

    private func image(of running: Running, isPartial: Bool = false) -> DecodedImage {
        var header = running.header
        var completeRows = running.pipeline.completeRows
        if !needsNoMoreBytes { header.frameCount = running.decoder.frameCount ?? header.frameCount }
        var pixels = running.pipeline.pixels
        var orientation = running.plan.orientation
        var shownSize = running.plan.shownSize
        if header.orientation == .up, let late = running.decoder.lateOrientation { header.orientation = late }
        if !options.ignoresOrientation, header.orientationFollowsPixels || header.orientation != orientation {
            // Fitted again: standing the other way it may not be what was asked for.
            let isWhole = shownSize == header.size
            let size = isWhole ? header.size : pixels.size
            orientation = header.orientation
            let scaling = ScalePlan(of: size, orientation: orientation, options: options)
            if scaling.scaledSize != pixels.size || orientation != .up {
                let region = scaling.region.scaled(from: size, to: pixels.size)
                completeRows = completeRows * scaling.scaledSize.height / max(pixels.height, 1)
                pixels = pixels.turned(
                    orientation, region: region, scaledTo: scaling.scaledSize, resampling: options.resampling,
                    hasAlpha: header.hasAlpha || isPartial)
            }
            shownSize = scaling.region.scaled(from: size, to: shownSize).size
        }
        return DecodedImage(
            pixels: pixels, header: header, originalSize: header.size.upright(orientation),
            shownSize: shownSize.upright(orientation), isPartial: isPartial || running.decoder.isDamaged,
            completeRows: completeRows, iccProfile: colors.profile(options))
    }
}

extension ImageFormat {
    /// The decoder for this format.
    var rowDecoder: any RowDecoder.Type {
        switch self {
        case .jpeg: JPEGRowDecoder.self
        case .png: PNGRowDecoder.self
        case .webp: WebPRowDecoder.self
        case .gif: GIFRowDecoder.self
        }
    }
}
