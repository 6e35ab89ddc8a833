/// The frames of an animation and their dependencies.
///
/// Created by an ``AnimationParser`` from the structure of the file; no pixel is decoded.
struct AnimationIndex: Sendable {
    /// The format of the file.
    let format: any FormatDescriptor
    /// The header.
    ///
    /// Its frame count and orientation are final once the index is settled.
    var header: ImageHeader
    /// The number of times the animation plays; 0 means forever.
    var repetitionCount: Int
    /// The complete frames, in the order of the file.
    private(set) var frames: [StoredFrame] = []
    /// The cost of decoding these frames.
    private(set) var cost = AnimationCost()
    /// The common beginning of the files made for single frames: the palette of a GIF, the chunks before the pixels
    /// of a PNG.
    ///
    /// If the frames are decoded together (``FrameDecoder``), the whole file.
    var preamble: [UInt8] = []
    /// A Boolean value that indicates whether the file has no more frames than these.
    private(set) var isComplete = false

    private var budget: FrameBudget
    /// A Boolean value that indicates whether the canvas is fully transparent when the next frame begins.
    private var isBlank = true

    /// Creates an index without frames.
    init(header: ImageHeader, format: any FormatDescriptor, limits: DecodeLimits) {
        self.format = format
        self.header = header
        budget = FrameBudget(of: header, limits: limits)
        repetitionCount = format.animation?.defaultRepetitionCount ?? 0
    }

    /// Adds a frame.
    ///
    /// Throws an error if the number or size of frames is over a limit.
    mutating func add(_ frame: StoredFrame) throws(CodecError) {
        try budget.add(frame.size)
        var frame = frame
        frame.updateIndependence(onBlank: &isBlank, header.size)
        frames.append(frame)
        cost.add(frame, header.size)
    }

    /// Releases the compressed pixels of a frame that is not decoded anymore.
    mutating func releaseData(ofFrame index: Int) { frames[index].data = [] }

    /// Ends the index, either because the animation is complete, or because the file ends early or is damaged.
    mutating func settle(isComplete: Bool) {
        self.isComplete = isComplete
        header.frameCount = frames.count
        header.hasTrailingOrientation = false
    }

    /// Returns whether this index contains all frames of `known`, and perhaps more.
    ///
    /// Frames found by the same parser are compared without their bytes.
    func continues(_ known: AnimationIndex) -> Bool {
        header.format == known.header.format && header.size == known.header.size && preamble == known.preamble
            && frames.starts(with: known.frames)
    }

    /// Returns a complete file that contains only `frame`, for the decoder of still images.
    func still(_ frame: StoredFrame) -> [UInt8] {
        format.animation?.still(frame, of: self) ?? []
    }

    /// Returns the header of that file, whose image is the visible part of the frame.
    func stillHeader(_ frame: StoredFrame) -> ImageHeader {
        var header = header
        header.size = frame.visibleSize(on: self.header.size)
        header.frameCount = 1
        // Uncovered parts of the canvas are transparent, and the frame itself can be.
        header.hasAlpha = true
        header.orientation = .up
        header.hasTrailingOrientation = false
        header.tableBytes = frame.tableBytes
        return header
    }

    /// The header that describes the most expensive frame possible.
    var anyFrameHeader: ImageHeader {
        var header = header
        header.hasAlpha = true
        if format.animation?.framesMayBeInterlaced == true { header.isProgressive = true }
        return header
    }
}
