/// Decodes the frames of an animation, one after the other or any of them.
///
/// Holds the canvas and the frames shown last, as many as fit into the window. A frame that is not in the window is
/// decoded from the last one before it that shows all of itself, which for many files is the first: going forward is
/// cheap, going back far is not. A frame that changes a part of the picture costs as much as that part, and one of which
/// nothing is shown, because it is off the canvas or cut off by a fill, is not decoded. Not `Sendable`: one decoder
/// belongs to one task.
public final class AnimationDecoder {
    package private(set) var image: AnimatedImage
    private var stage: Stage?
    /// The frame on the canvas, or nil if it holds no whole frame.
    private var current: Int?
    /// The way of each frame's pixels to sRGB, before they are painted.
    private lazy var transform = image.transform
    private(set) var window: FrameWindow
    /// A Boolean value that indicates whether a frame that is to be seen on the canvas is not whole.
    private var isCanvasPartial = false

    /// Frames decoded so far in which something is missing: ``DecodeOptions/allowsPartial`` lets damaged ones, and those painted
    /// over them, show what was below instead.
    public private(set) var partialFrames: Set<Int> = []

    /// What frames are painted on, and what makes them of it; nil where the canvas is the frame.
    private struct Stage {
        let canvas: AnimationCanvas
        var renderer: FrameRenderer?
    }

    /// A decoder of `image` that keeps up to `windowBytes` of frames for those who go back.
    public init(_ image: AnimatedImage, windowBytes: Int = 16 << 20) {
        self.image = image
        window = FrameWindow(limit: windowBytes)
        if case .still(let still) = image.content, still.isPartial { partialFrames = [0] }
    }

    /// Frame `index`, from 0, whole, upright and scaled as the image's options ask; traps if there is no such frame.
    ///
    /// Throws `corrupt` or `truncated` if the frame, or one that it is painted over, cannot be decoded.
    public func frame(at index: Int) throws(CodecError) -> PixelBuffer {
        precondition(index >= 0 && index < image.frameCount, "frame \(index) of \(image.frameCount)")
        if let known = window[index] { return known }
        let frame = try decode(index)
        window.insert(frame, at: index)
        return frame
    }

    /// Goes on with `image`, the same animation of which more has come (``StreamingAnimation/image``).
    ///
    /// Frames stay as large and turned as they were. If it is another, with fewer frames for instance, the decoder is as new:
    /// what a server sends at the second try need not be what it had begun to send.
    public func extend(to image: AnimatedImage) {
        guard case .animated(let known, let plan, _) = self.image.content,
            case .animated(let index, _, let colors) = image.content, index.continues(known)
        else { return begin(image) }
        self.image = AnimatedImage(.animated(index, plan, colors), image.options, image.limits)
    }

    private func begin(_ image: AnimatedImage) {
        self.image = image
        stage = nil
        current = nil
        transform = image.transform
        window = FrameWindow(limit: window.limit)
        isCanvasPartial = false
        partialFrames = []
        if case .still(let still) = image.content, still.isPartial { partialFrames = [0] }
    }

    private func decode(_ index: Int) throws(CodecError) -> PixelBuffer {
        let (animation, plan): (AnimationIndex, DecodePlan)
        switch image.content {
        case .still(let still): return still.pixels
        case .animated(let index, let itsPlan, _): (animation, plan) = (index, itsPlan)
        }
        let canvas = try setStage(plan, animation)
        if current != index { try paint(upTo: index, animation, on: canvas) }
        if isCanvasPartial { partialFrames.insert(index) }
        stage?.renderer?.update(from: canvas)
        return stage?.renderer?.pixels ?? canvas.pixels
    }

    /// The canvas, made for the first frame.
    private func setStage(_ plan: DecodePlan, _ animation: AnimationIndex) throws(CodecError) -> AnimationCanvas {
        if let stage { return stage.canvas }
        let renderer = plan.showsCanvas(image.options) ? nil : FrameRenderer(plan, image.options)
        let size = plan.storedSize
        let canvas = try AnimationCanvas(
            size: size, window: renderer?.window ?? PixelRectangle(whole: size),
            blending: animation.format.animation?.blending ?? .exact, handsOutPixels: renderer == nil)
        stage = Stage(canvas: canvas, renderer: renderer)
        return canvas
    }

    /// Paints the frames that make frame `index`, as few as need be.
    private func paint(
        upTo index: Int, _ animation: AnimationIndex, on canvas: AnimationCanvas
    ) throws(CodecError) {
        // From the frame on the canvas, if that is an earlier one; past all that the last independent frame hides.
        let first = if let current, current < index { current + 1 } else { 0 }
        let next = animation.frames[first...index].lastIndex(where: \.isIndependent) ?? first
        if next > first || first == 0 {
            try canvas.clear()
            isCanvasPartial = false
        }
        // A frame that fails half-way leaves a canvas that cannot be built upon.
        current = nil
        for frame in animation.frames[next...index] { try paint(frame, animation, on: canvas) }
        current = index
    }

    private func paint(
        _ frame: StoredFrame, _ animation: AnimationIndex, on canvas: AnimationCanvas
    ) throws(CodecError) {
        if frame.isIndependent { isCanvasPartial = false }
        canvas.begin(frame)
        guard canvas.showsFrame else { return }
        let header = animation.stillHeader(frame)
        let still = animation.still(frame)
        let toleratesDamage = image.options.allowsPartial
        let decoder = try animation.format.rowDecoder(
            for: header, rowSize: header.size, limits: image.limits, toleratesDamage: toleratesDamage)
        let sink: any RowSink =
            transform.map { ColorConverter($0, width: header.size.width, sink: canvas) } ?? canvas
        do throws(CodecError) {
            try decoder.append(still.span, to: sink)
            try decoder.finish(to: sink)
            guard canvas.isFrameComplete else { throw .truncated(header.format) }
        } catch {
            guard toleratesDamage, error.isDamage else { throw error }
            decoder.salvage(to: sink)
            isCanvasPartial = true
        }
    }
}

@available(*, unavailable)
extension AnimationDecoder: Sendable {}
