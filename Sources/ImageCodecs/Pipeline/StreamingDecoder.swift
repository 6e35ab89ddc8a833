/// Decodes one image while its bytes arrive.
///
/// Append the file from its first byte in pieces of any size. When ``plan`` is set, the header is known and no memory
/// has been allocated for pixels: reserve memory for `plan.estimatedBytes` if necessary, then call ``begin()``. After
/// an error, every further call throws the same error, and ``partialImage`` contains the part decoded before it. Not
/// `Sendable`: use a decoder from one task only.
///
/// A successful decode does not prove that the file is undamaged: scans that add detail to a JPEG can be skipped at
/// 1/8 of its size or less, unexpected bytes are skipped, only the first frame of an animation is decoded, and
/// checksums of metadata are not verified. Use ``ImageVerifier`` to check all of that.
public final class StreamingDecoder {
    /// The header, available as soon as enough of the file has been received.
    ///
    /// Its frame count is the declared one, which can be `nil`.
    public private(set) var header: ImageHeader?
    /// The sizes and the cost of the decode, known together with ``header``.
    public private(set) var plan: DecodePlan?

    /// The decoded part of a file that turned out to be truncated or corrupt; otherwise, and if no row was decoded,
    /// `nil`.
    ///
    /// Its pixels are those of the final image, with missing pixels transparent. With
    /// ``DecodeOptions/allowsPartial``, it is the result, and no error is thrown.
    public internal(set) var partialImage: DecodedImage?

    private(set) var options: DecodeOptions
    private let limits: DecodeLimits
    let pixelMemory: (any PixelMemory)?
    private(set) var failure: CodecError?
    private var bytesSeen = 0
    /// The received file, until ``begin()``.
    private var beginning: FileBeginning

    /// The declared number of bytes in the file, which limits the memory in which it is collected; `nil` if unknown.
    package var expectedLength: Int? {
        get { beginning.expectedLength }
        set { beginning.expectedLength = newValue }
    }

    /// The maximum number of bytes before ``header`` is known: those of a file, if its format needs all of it.
    package var maximumHeaderBytes: Int { beginning.maximumHeaderBytes(limits) }

    /// A Boolean value that indicates whether even a small file of this format can take long, as far as the format is known.
    package var takesLong: Bool { (format ?? beginning.wholeFileFormat)?.takesLong == true }

    /// A Boolean value that indicates whether the format needs the whole file, whose bytes `plan.estimatedBytes`
    /// then includes.
    package var needsWholeFile: Bool { format?.needsWholeFile == true }

    private var format: (any FormatDescriptor)?
    private(set) var colors = StoredColors()
    var running: Running?
    var cachedPreview: (plan: PreviewPlan, version: Int, preview: PreviewPixels)?

    /// The state that exists only once decoding has begun.
    struct Running {
        let header: ImageHeader
        let plan: DecodePlan
        let decoder: any RowDecoder
        let pipeline: RowPipeline
        /// The pipeline for an image that turns out to be on its side (``DecodePlan/sidewaysScaling``).
        let sideways: RowPipeline?
        /// The destination of the decoder's rows.
        let rows: any RowSink
        let transform: ColorTransform?
    }

    /// Creates a decoder for one file.
    ///
    /// Files that have no built-in format are offered to `customFormats`.
    public convenience init(
        options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits(),
        customFormats: [any CustomFormat] = []
    ) {
        self.init(options: options, limits: limits, customFormats: customFormats, pixelMemory: nil)
    }

    /// Creates a decoder that takes the memory of images and of previews that it renders from `pixelMemory`, and leaves
    /// it there.
    package init(
        options: DecodeOptions, limits: DecodeLimits, customFormats: [any CustomFormat],
        pixelMemory: (any PixelMemory)?
    ) {
        self.options = options
        self.limits = limits
        self.pixelMemory = pixelMemory
        beginning = FileBeginning(formats: FormatTable(adding: customFormats))
    }

    /// Replaces the options, so that they can depend on the header, and updates ``plan``.
    ///
    /// Does nothing after ``begin()`` has been called. Throws `overLimit` if the image would be enlarged too much.
    public func replaceOptions(_ options: DecodeOptions) throws(CodecError) {
        try remembering { () throws(CodecError) in
            guard running == nil, partialImage == nil else { return }
            self.options = options
            if let header, let format { plan = try makePlan(header, format, colors) }
        }
    }

    /// Appends the next bytes of the file.
    ///
    /// Before ``begin()``, they are only kept and searched for the header. Throws as soon as the bytes show that there
    /// will be no image: `unsupportedFormat` after the first 12 bytes (or as many as a custom format needs),
    /// `overLimit`, `corrupt`, `unsupportedFeature`, `zeroPixels`, `truncated` if the image data ends before the last
    /// row, and `decoderFault`.
    public func append(_ bytes: Span<UInt8>) throws(CodecError) {
        try remembering { () throws(CodecError) in
            guard !needsNoMoreBytes else { return }
            bytesSeen += bytes.count
            guard bytesSeen <= limits.maximumBytes else {
                throw .overLimit(.bytes, value: bytesSeen, limit: limits.maximumBytes)
            }
            if let running {
                try orPartial(running) { () throws(CodecError) in
                    try running.decoder.append(bytes, to: running.rows)
                }
            } else {
                try take(beginning.append(bytes, limits: limits))
            }
        }
    }

    /// Allocates the memory announced by ``plan`` and decodes the received bytes.
    ///
    /// Call this method once, after ``plan`` has been set. Does nothing if it is called earlier or again.
    public func begin() throws(CodecError) {
        try remembering { () throws(CodecError) in
            let bytes = beginning.bytes
            if plan != nil { beginning = FileBeginning() }
            try begin(with: bytes.span)
        }
    }

    /// Decodes the received bytes.
    private func begin(with bytes: Span<UInt8>) throws(CodecError) {
        guard running == nil, partialImage == nil, let header, let plan, let format else { return }
        let decoder = try format.rowDecoder(
            for: header, rowSize: plan.rowSize, limits: limits, toleratesDamage: options.allowsPartial)
        let transform = colors.transform(
            options, pixelCount: plan.scaledSize.area, is16Bit: plan.usesDeepRows)
        let pipeline = RowPipeline(
            rowSize: plan.rowSize, region: plan.rowRegion, scaledSize: plan.scaledSize,
            resampling: options.resampling, orientation: plan.orientation, hasAlpha: header.hasAlpha,
            colors: transform, format: options.pixelFormat, memory: pixelMemory, scalesPlanes: plan.scalesPlanes)
        let sideways = plan.sidewaysScaling.map { scaling in
            RowPipeline(
                rowSize: header.size, region: scaling.region, scaledSize: scaling.scaledSize,
                resampling: options.resampling, orientation: .up, hasAlpha: header.hasAlpha, colors: transform,
                format: options.pixelFormat)
        }
        let rows: any RowSink = sideways.map { PairedRows(pipeline, $0) } ?? pipeline
        let running = Running(
            header: header, plan: plan, decoder: decoder, pipeline: pipeline, sideways: sideways, rows: rows,
            transform: transform)
        self.running = running
        try orPartial(running) { () throws(CodecError) in try decoder.append(bytes, to: rows) }
    }

    /// Searches all appended bytes for the header; call this method at the end of a file if ``header`` is still `nil`.
    ///
    /// After the first 4 KiB, ``append(_:)`` searches again only after the file has grown by an eighth, so it may not
    /// have found the header yet. If this method finds the header, you can reserve memory before ``finish()`` allocates
    /// any.
    public func lookForHeaderAtEnd() throws(CodecError) {
        try remembering { () throws(CodecError) in
            if header == nil { try take(beginning.finish(limits: limits)) }
        }
    }

    /// A Boolean value that indicates whether the remainder of the file is not needed: because the image is complete
    /// and ``DecodeOptions/stopsWhenComplete`` is set, or because it follows damage that
    /// ``DecodeOptions/allowsPartial`` accepts.
    ///
    /// The caller can then call ``finish()`` without the remainder.
    public var needsNoMoreBytes: Bool {
        if options.allowsPartial, partialImage != nil { return true }
        guard options.stopsWhenComplete, failure == nil, let running else { return false }
        let isUpright = options.ignoresOrientation || !running.header.hasTrailingOrientation
        return isUpright && running.pipeline.isComplete
    }

    /// A Boolean value that indicates whether the end marker of the image has been received, so that a preview is not
    /// worthwhile anymore: call ``finish()`` next.
    ///
    /// Not every format reports this.
    public var hasReachedEnd: Bool { failure == nil && running?.decoder.hasReachedEnd == true }

    /// Ends the file and returns the image, or throws the reason why there is none (`truncated` if bytes are
    /// missing).
    ///
    /// With ``DecodeOptions/allowsPartial``, the image can be partial. Calls ``begin()`` if it has not been called.
    /// The decoder then releases its memory, except for ``partialImage``, and further calls throw `truncated`.
    public func finish() throws(CodecError) -> DecodedImage {
        try remembering { () throws(CodecError) in
            if plan == nil { try take(beginning.finish(limits: limits)) }
            try begin()
            cachedPreview = nil
            let image = try result()
            // The decoder may exist for longer than the image.
            running = nil
            failure = .truncated(image.header.format)
            return image
        }
    }

    /// Returns the image of `file`, a complete file, without a copy of it, if its format is not read in pieces; otherwise
    /// `nil`.
    private func finish(whole file: Span<UInt8>) throws(CodecError) -> DecodedImage? {
        bytesSeen = file.count
        defer { bytesSeen = 0 }
        guard file.count <= limits.maximumBytes, let head = try beginning.headOfWhole(file, limits: limits) else {
            return nil
        }
        try take(head)
        try begin(with: file)
        return try result()
    }

    private func result() throws(CodecError) -> DecodedImage {
        if let partialImage { return partialImage }
        guard let running else { throw beginning.missingHeader }
        guard !needsNoMoreBytes else { return image(of: running) }
        try orPartial(running) { () throws(CodecError) in
            try running.decoder.finish(to: running.rows)
            guard running.pipeline.isComplete else { throw .truncated(running.header.format) }
        }
        return partialImage ?? image(of: running)
    }

    /// Decodes a complete file.
    public static func decode(
        _ bytes: Span<UInt8>, options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits(),
        customFormats: [any CustomFormat] = []
    ) throws(CodecError) -> DecodedImage {
        let decoder = StreamingDecoder(options: options, limits: limits, customFormats: customFormats)
        if let image = try decoder.finish(whole: bytes) { return image }
        // In pieces until the header is known, to hold as little as possible twice.
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
    /// Throws the error that was thrown before, or stores the one that `body` throws for the next call.
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

    /// Plans the decode once the header is known.
    private func take(_ head: FileHead?) throws(CodecError) {
        guard plan == nil, let head else { return }
        plan = try makePlan(head.header, head.format, head.colors)
        header = head.header
        colors = head.colors
        format = head.format
    }

    private func makePlan(
        _ header: ImageHeader, _ format: any FormatDescriptor, _ colors: StoredColors
    ) throws(CodecError) -> DecodePlan {
        try limits.checkRendering(header, options)
        let plan = try DecodePlan(
            header: header, options: options, format: format,
            usesDeepRows: colors.usesDeepRows(options, of: header))
        for size in [plan.scaledSize, plan.sidewaysScaling?.scaledSize].compactMap(\.self) {
            try limits.check(size, header.format)  // can be enlarged
        }
        let width = max(plan.rowSize.width, plan.scaledSize.width)
        return try plan.adding(bytes: colors.workingBytes(options, width: width))
            .adding(bytes: format.needsWholeFile ? bytesSeen : 0)
    }
}
