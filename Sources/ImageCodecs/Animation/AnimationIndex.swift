/// Where the frames of an animation are in its file, and how they follow each other.
///
/// Found by walking over the file's structure; no pixel is decoded.
struct AnimationIndex: Sendable {
    /// The header, its frame count and orientation settled.
    var header: ImageHeader
    /// How often the animation is shown; 0 is without end.
    var loopCount: Int
    /// In the order of the file.
    var frames: [StoredFrame]
    /// What every frame's own file begins with: the palette of a GIF, the chunks before the pixels of a PNG.
    var preamble: [UInt8] = []

    /// The index of a whole file with this header.
    ///
    /// Throws `truncated` if a frame is missing or not complete, `corrupt`, and `overLimit`.
    init(_ file: Span<UInt8>, header: ImageHeader, limits: DecodeLimits) throws(CodecError) {
        switch header.format {
        case .gif: try self.init(gif: file, header: header, limits: limits)
        case .png: try self.init(png: file, header: header, limits: limits)
        case .webp: try self.init(webp: file, header: header, limits: limits)
        case .jpeg: throw .unsupportedFeature(.jpeg, "JPEG has no animations")
        }
        try checkPixels(limits)
        frames.markIndependent(on: header.size)
        self.header.frameCount = frames.count
        self.header.orientationFollowsPixels = false  // the whole file is there
    }

    init(header: ImageHeader, loopCount: Int, frames: [StoredFrame], preamble: [UInt8] = []) {
        self.header = header
        self.loopCount = loopCount
        self.frames = frames
        self.preamble = preamble
    }

    /// A few bytes make a frame, and each costs as much time as it has pixels, or the canvas.
    private func checkPixels(_ limits: DecodeLimits) throws(CodecError) {
        var sum = 0
        for frame in frames {
            let (next, overflow) = sum.addingReportingOverflow(max(frame.size.area, header.size.area))
            sum = overflow ? .max : next
        }
        guard sum <= limits.maximumAnimationPixels else {
            throw .overLimit(.animationPixels, value: sum, limit: limits.maximumAnimationPixels)
        }
    }

    /// A file of its own for a frame, so that the decoder for stills can decode it.
    func still(_ frame: StoredFrame, of file: Span<UInt8>) -> [UInt8] {
        switch header.format {
        case .gif: gifStill(frame, of: file)
        case .png: pngStill(frame, of: file)
        case .webp: webpStill(frame, of: file)
        case .jpeg: []
        }
    }

    /// The header of that file.
    func stillHeader(_ frame: StoredFrame) -> ImageHeader {
        var header = header
        header.size = frame.size
        header.frameCount = 1
        // What a frame does not cover is transparent, and so may be what it does.
        header.hasAlpha = true
        header.orientation = .up
        header.orientationFollowsPixels = false
        return header
    }
}

extension [StoredFrame] {
    /// Adds a frame, whose number and size must be within limits.
    mutating func add(_ frame: StoredFrame, _ format: ImageFormat, _ limits: DecodeLimits) throws(CodecError) {
        guard count < limits.maximumFrames else {
            throw .overLimit(.frames, value: count + 1, limit: limits.maximumFrames)
        }
        // A GIF may have frames of no pixels, which only take time.
        if frame.size.area > 0 { try limits.check(frame.size, format) }
        append(frame)
    }
}
