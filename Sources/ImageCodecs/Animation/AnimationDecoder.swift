/// Decodes the frames of an animation, one after the other or any of them.
///
/// Holds the canvas and the frames shown last, as many as fit into the window. A frame that is not in the window is
/// decoded from the last one before it that shows all of itself, which for many files is the first: going forward is
/// cheap, going back far is not. Not `Sendable`: one decoder belongs to one task.
public final class AnimationDecoder {
    private(set) var image: AnimatedImage
    private lazy var canvas = AnimationCanvas(of: image.header)
    /// The frame on the canvas, or nil if it holds no whole frame.
    private var current: Int?
    /// The way of each frame's pixels to sRGB, before they are painted.
    private lazy var transform = image.transform
    private(set) var window: FrameWindow
    /// Whether a frame that is to be seen on the canvas is not whole.
    private var isCanvasPartial = false

    /// Frames decoded so far in which something is missing: ``DecodeOptions/allowsPartial`` lets damaged ones, and those painted
    /// over them, show what was below instead.
    public private(set) var partialFrames: Set<Int> = []

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
        canvas = AnimationCanvas(of: image.header)
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
        if current != index { try paint(upTo: index, animation) }
        if isCanvasPartial { partialFrames.insert(index) }
        let format = image.options.pixelFormat
        guard plan.scaledSize != plan.storedSize || plan.orientation != .up else {
            return canvas.pixels.converted(to: format)
        }
        return canvas.pixels.turned(
            plan.orientation, region: plan.rowRegion, scaledTo: plan.scaledSize,
            resampling: image.options.resampling, format: format)
    }

    /// Paints the frames that make frame `index`, as few as need be.
    private func paint(upTo index: Int, _ animation: AnimationIndex) throws(CodecError) {
        // From the frame on the canvas, if that is an earlier one; past all that the last independent frame hides.
        let first = if let current, current < index { current + 1 } else { 0 }
        let next = animation.frames[first...index].lastIndex(where: \.isIndependent) ?? first
        if next > first || first == 0 {
            canvas.clear()
            isCanvasPartial = false
        }
        // A frame that fails half-way leaves a canvas that cannot be built upon.
        current = nil
        for frame in animation.frames[next...index] { try paint(frame, animation) }
        current = index
    }

    private func paint(_ frame: StoredFrame, _ animation: AnimationIndex) throws(CodecError) {
        if frame.isIndependent { isCanvasPartial = false }
        canvas.begin(frame)
        let header = animation.stillHeader(frame)
        guard header.size.area > 0 else { return }
        let still = animation.still(frame)
        let toleratesDamage = image.options.allowsPartial
        guard let format = header.format.builtIn else { throw .unsupportedFeature(header.format, "it is an animation") }
        let decoder = try format.rowDecoder.init(
            header: header, rowSize: header.size, limits: image.limits, toleratesDamage: toleratesDamage)
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

extension AnimationCanvas {
    fileprivate convenience init(of header: ImageHeader) {
        self.init(size: header.size, blending: header.format == .webp ? .libwebp : .exact)
    }
}

@available(*, unavailable)
extension AnimationDecoder: Sendable {}
