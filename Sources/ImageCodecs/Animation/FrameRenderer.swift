/// Renders the frames of an animation from its canvas: scaled, oriented, and in the requested pixel format.
///
/// Keeps the last frame and recomputes only the pixels that depend on changes since then. The result is bit-identical
/// to rendering the whole canvas.
struct FrameRenderer {
    /// The part of the canvas that frames are rendered from.
    let window: PixelRectangle
    /// The last frame.
    private(set) var pixels = PixelBuffer(transparent: PixelSize(width: 0, height: 0))

    private let plan: DecodePlan
    private let format: PixelFormat
    private let usesLinearLight: Bool
    /// The resampling weights, or `nil` if pixels are only cropped.
    private let scale: (rows: ResamplingWeights, columns: ResamplingWeights)?

    /// Creates a renderer for frames according to `plan` and `options`.
    init(_ plan: DecodePlan, _ options: DecodeOptions) {
        self.plan = plan
        format = options.pixelFormat
        usesLinearLight = options.resampling.usesLinearLight
        let (stored, region, scaled) = (plan.storedSize, plan.rowRegion, plan.scaledSize)
        if stored == scaled || region.isCut(to: scaled) {
            scale = nil
            window = PixelRectangle(left: Int(region.left), top: Int(region.top), size: scaled)
        } else {
            let filter = options.resampling.filter
            let rows = ResamplingWeights(
                from: stored.height, start: region.top, length: region.height, to: scaled.height, filter: filter)
            let columns = ResamplingWeights(
                from: stored.width, start: region.left, length: region.width, to: scaled.width, filter: filter)
            scale = (rows, columns)
            window = PixelRectangle(columns: columns.range, rows: rows.range)
        }
    }

    /// Updates the last frame to the current state of the canvas.
    mutating func update(from canvas: AnimationCanvas) {
        let changes = canvas.takeChanges()
        if changes.wasCleared {
            // Transparent pixels stay transparent when scaled. Release the old frame first.
            pixels = PixelBuffer(transparent: PixelSize(width: 0, height: 0))
            pixels = PixelBuffer(transparent: plan.outputSize, format: format)
        }
        for change in changes.rectangles { update(change, from: canvas) }
    }

    /// Recomputes the pixels that depend on `change`, a part of the window.
    private mutating func update(_ change: PixelRectangle, from canvas: AnimationCanvas) {
        guard let part = part(influencedBy: change) else { return }
        let is16Bit = format == .rgba16
        let image = OrientedCanvas(
            changing: takePixels(), stored: plan.scaledSize, part: part, orientation: plan.orientation)
        var first: any RowSink = image
        if format != .rgba8, !is16Bit { first = RowConverter(to: format, width: part.size.width, sink: first) }
        var source = part.moved(left: -window.left, up: -window.top)
        if let scale {
            source = PixelRectangle(
                columns: scale.columns.range(of: part.columns), rows: scale.rows.range(of: part.rows))
            first = BandResampler(
                rows: scale.rows.part(part.rows), columns: scale.columns.part(part.columns),
                usesLinearLight: usesLinearLight, hasAlpha: true, is16Bit: is16Bit, sink: first)
        }
        if is16Bit { first = RowConverter(to: format, width: source.size.width, sink: first) }
        canvas.forEachRow(of: source) { first.append(row: $0) }
        image.flush()
        pixels = image.pixels
    }

    /// Returns the area of a frame, before orientation, that depends on the pixels of `change`; `nil` if it is empty.
    private func part(influencedBy change: PixelRectangle) -> PixelRectangle? {
        guard let scale else { return change.intersection(window)?.moved(left: window.left, up: window.top) }
        let columns = scale.columns.samples(influencedBy: change.columns)
        let rows = scale.rows.samples(influencedBy: change.rows)
        return columns.isEmpty || rows.isEmpty ? nil : PixelRectangle(columns: columns, rows: rows)
    }

    /// Takes the last frame out, so that it is changed in place unless it is also used elsewhere.
    private mutating func takePixels() -> PixelBuffer {
        var taken = PixelBuffer(transparent: PixelSize(width: 0, height: 0))
        swap(&taken, &pixels)
        return taken
    }
}
