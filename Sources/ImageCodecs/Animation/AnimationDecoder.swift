/// Decodes the frames of an animation, in sequence or in any order.
///
/// A decoder holds the canvas and as many of the most recently decoded frames as fit into its window. To produce a
/// frame outside the window, it paints the frames after the one on the canvas, up to the requested one. If the canvas
/// shows a frame after the requested one, or if fewer frames have to be painted that way, it starts instead at the last
/// frame, at or before the requested one, that does not depend on others. In many files, only the first frame does not
/// depend on others: moving forward is cheap, moving back beyond the window is not. The cost of a frame is
/// proportional to the area it changes; frames without visible pixels are not decoded. A decoder is not `Sendable`: use
/// it in only one task at a time.
public final class AnimationDecoder {
    package private(set) var image: AnimatedImage
    private var stage: Stage?
    /// The decoder of all frames; `nil` if each is decoded as a still image, and before the first one.
    private var frames: (any FrameDecoder)?
    /// The frame on the canvas, or `nil` if it holds no complete frame.
    private var current: Int?
    /// The transform to sRGB applied to each frame before it is painted.
    private lazy var transform = image.transform
    private(set) var window: FrameWindow
    /// A Boolean value that indicates whether a frame visible on the canvas is incomplete.
    private var isCanvasPartial = false
    /// The same without the last frame if that is cleared, or what is below it restored, before the next one.
    private var isPartialBelow = false

    /// The frames decoded so far that are incomplete.
    ///
    /// With ``DecodeOptions/allowsPartial``, damaged frames and those painted over them show the pixels below where
    /// data is missing.
    public private(set) var partialFrames: Set<Int> = []

    /// The warnings about the pixel data of the frames decoded so far, in addition to those in the header of the image.
    public private(set) var warnings: Set<ImageWarning> = []

    /// The canvas and the renderer that produces frames from it; `nil` if the canvas is the frame.
    private struct Stage {
        let canvas: AnimationCanvas
        var renderer: FrameRenderer?
    }

    /// Creates a decoder of `image` that retains up to `windowBytes` bytes of recent frames, and at most 32 frames.
    public init(_ image: AnimatedImage, windowBytes: Int = 16 << 20) {
        self.image = image
        window = FrameWindow(limit: windowBytes)
        if case .still(let still) = image.content, still.isPartial { partialFrames = [0] }
    }

    /// Returns frame `index`, counted from 0: complete, upright, and scaled according to the image's options.
    ///
    /// Traps if there is no such frame. Throws `corrupt` or `truncated` if the frame, or one that it depends on, is
    /// damaged, and `overLimit` or `outOfMemory` if there is not enough memory to decode it.
    public func frame(at index: Int) throws(CodecError) -> PixelBuffer {
        precondition(index >= 0 && index < image.frameCount, "frame \(index) of \(image.frameCount)")
        if let known = window[index] { return known }
        let frame = try decode(index)
        window.insert(frame, at: index)
        return frame
    }

    /// Continues with `image`, a version of the same animation of which more has arrived
    /// (``StreamingAnimation/image``).
    ///
    /// The size and orientation of frames do not change. If `image` is a different animation, for example with fewer
    /// frames, the decoder starts over: a server can send a different file on a retry.
    public func extend(to image: AnimatedImage) {
        guard case .animated(let known, let plan, _) = self.image.content,
            case .animated(let index, _, let colors) = image.content, index.continues(known)
        else { return begin(image) }
        self.image = AnimatedImage(.animated(index, plan, colors), image.options, image.limits)
        self.image.frameTransform = image.frameTransform
    }

    private func begin(_ image: AnimatedImage) {
        self.image = image
        stage = nil
        frames = nil
        current = nil
        transform = image.transform
        window = FrameWindow(limit: window.limit)
        partialFrames = []
        warnings = []
        if case .still(let still) = image.content, still.isPartial { partialFrames = [0] }
    }

    private func decode(_ index: Int) throws(CodecError) -> PixelBuffer {
        let (animation, plan): (AnimationIndex, DecodePlan)
        switch image.content {
        case .still(let still): return still.pixels
        case .animated(let index, let itsPlan, _): (animation, plan) = (index, itsPlan)
        }
        let canvas = try prepareCanvas(plan, animation)
        if current != index { try paint(upTo: index, animation, on: canvas) }
        if isCanvasPartial { partialFrames.insert(index) }
        stage?.renderer?.update(from: canvas)
        let frame = stage?.renderer?.pixels ?? canvas.pixels
        return try image.frameTransform?.apply(to: frame) ?? frame
    }

    /// Returns the canvas, created for the first frame.
    private func prepareCanvas(_ plan: DecodePlan, _ animation: AnimationIndex) throws(CodecError) -> AnimationCanvas {
        if let stage { return stage.canvas }
        let renderer = plan.showsCanvas(image.options) ? nil : FrameRenderer(plan, image.options)
        let size = plan.storedSize
        let canvas = try AnimationCanvas(
            size: size, window: renderer?.window ?? PixelRectangle(whole: size),
            blending: animation.format.animation?.blending ?? .exact, handsOutPixels: renderer == nil)
        stage = Stage(canvas: canvas, renderer: renderer)
        return canvas
    }

    /// Paints the frames that frame `index` consists of, as few as possible.
    private func paint(
        upTo index: Int, _ animation: AnimationIndex, on canvas: AnimationCanvas
    ) throws(CodecError) {
        // From the frame on the canvas, if that is an earlier one, skipping everything before the last independent
        // frame.
        let first = if let current, current < index { current + 1 } else { 0 }
        let next = animation.frames[first...index].lastIndex(where: \.isIndependent) ?? first
        if next > first || first == 0 {
            try canvas.clear()
        }
        // A frame that fails partway leaves an unusable canvas.
        current = nil
        for index in next...index { try paint(index, animation, on: canvas) }
        current = index
    }

    private func paint(
        _ index: Int, _ animation: AnimationIndex, on canvas: AnimationCanvas
    ) throws(CodecError) {
        let frame = animation.frames[index]
        if frame.isIndependent { isPartialBelow = false }
        isCanvasPartial = isPartialBelow
        canvas.begin(frame)
        guard canvas.isFrameVisible else { return }
        let toleratesDamage = image.options.allowsPartial
        let width = animation.stillHeader(frame).size.width
        let sink: any RowSink = transform.map { ColorConverter($0, width: width, sink: canvas) } ?? canvas
        var decoder: (any RowDecoder)?
        do throws(CodecError) {
            if frames == nil { frames = try animation.format.frameDecoder(for: animation) }
            if let frames {
                try frames.decodeFrame(at: index, to: sink)
            } else {
                let still = try animation.stillDecoder(of: frame, limits: image.limits, toleratesDamage)
                decoder = still
                let file = animation.still(frame)
                try still.append(file.span, to: sink)
                try still.finish(to: sink)
                warnings.formUnion(still.warnings)
            }
            guard canvas.isFrameComplete else { throw .truncated(animation.header.format) }
        } catch {
            guard toleratesDamage, error.isDamage else { throw error }
            decoder?.salvage(to: sink)
            isCanvasPartial = true
            if frame.disposal == .keep { isPartialBelow = true }
        }
    }
}

extension AnimationIndex {
    /// Returns the decoder of a still image of `frame`.
    fileprivate func stillDecoder(
        of frame: StoredFrame, limits: DecodeLimits, _ toleratesDamage: Bool
    ) throws(CodecError) -> any RowDecoder {
        let header = stillHeader(frame)
        return try format.rowDecoder(
            for: header, rowSize: header.size, limits: limits, toleratesDamage: toleratesDamage)
    }
}

@available(*, unavailable)
extension AnimationDecoder: Sendable {}
