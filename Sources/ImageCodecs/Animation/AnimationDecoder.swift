/// Decodes the frames of an animation, one after the other or any of them.
///
/// Holds the canvas and the frames shown last, as many as fit into the window. A frame that is not in the window is
/// decoded from the last one before it that shows all of itself, which for many files is the first: going forward is
/// cheap, going back far is not. Not `Sendable`: one decoder belongs to one task.
public final class AnimationDecoder {
    private let image: AnimatedImage
    private lazy var canvas = AnimationCanvas(
        size: image.header.size, blending: image.header.format == .webp ? .libwebp : .exact)
    /// The frame on the canvas, or nil if it holds no whole frame.
    private var current: Int?
    /// The way of each frame's pixels to sRGB, before they are painted.
    private lazy var transform = image.transform
    private(set) var window: FrameWindow

    /// A decoder of `image` that keeps up to `windowBytes` of frames for those who go back.
    public init(_ image: AnimatedImage, windowBytes: Int = 16 << 20) {
        self.image = image
        window = FrameWindow(limit: windowBytes)
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

    private func decode(_ index: Int) throws(CodecError) -> PixelBuffer {
        switch image.content {
        case .still(let still): return still.pixels
        case .animated(let file, let animation, let plan, _):
            if current != index { try paint(upTo: index, animation, file) }
            let format = image.options.pixelFormat
            guard plan.scaledSize != plan.storedSize || plan.orientation != .up else {
                return canvas.pixels.converted(to: format)
            }
            return canvas.pixels.turned(
                plan.orientation, region: plan.rowRegion, scaledTo: plan.scaledSize,
                resampling: image.options.resampling, format: format)
        }
    }

    /// Paints the frames that make frame `index`, as few as need be.
    private func paint(upTo index: Int, _ animation: AnimationIndex, _ file: [UInt8]) throws(CodecError) {
        // From the frame on the canvas, if that is an earlier one; past all that the last independent frame hides.
        let first = if let current, current < index { current + 1 } else { 0 }
        let next = animation.frames[first...index].lastIndex(where: \.isIndependent) ?? first
        if next > first || first == 0 { canvas.clear() }
        // A frame that fails half-way leaves a canvas that cannot be built upon.
        current = nil
        for frame in animation.frames[next...index] { try paint(frame, animation, file) }
        current = index
    }

    private func paint(_ frame: StoredFrame, _ animation: AnimationIndex, _ file: [UInt8]) throws(CodecError) {
        canvas.begin(frame)
        guard frame.size.area > 0 else { return }
        let still = animation.still(frame, of: file.span)
        let header = animation.stillHeader(frame)
        let decoder = try header.format.rowDecoder.init(header: header, rowSize: frame.size, limits: image.limits)
        let sink: any RowSink =
            transform.map { ColorConverter($0, width: frame.size.width, sink: canvas) } ?? canvas
        try decoder.append(still.span, to: sink)
        try decoder.finish(to: sink)
        guard canvas.isFrameComplete else { throw .truncated(header.format) }
    }
}

@available(*, unavailable)
extension AnimationDecoder: Sendable {}
