/// The most recently used frames; the oldest are dropped first.
struct FrameWindow {
    /// The maximum number of frames kept, regardless of their size.
    static let maximumCount = 32

    /// The maximum size of the kept pixels, in bytes.
    let limit: Int
    private(set) var bytes = 0
    /// The frames, oldest first.
    private var frames: [(index: Int, pixels: PixelBuffer)] = []

    init(limit: Int) {
        self.limit = limit
    }

    var count: Int { frames.count }

    subscript(index: Int) -> PixelBuffer? {
        frames.last { $0.index == index }?.pixels
    }

    /// Keeps a frame, unless it is larger than the window.
    mutating func insert(_ pixels: PixelBuffer, at index: Int) {
        guard pixels.bytes.count <= limit else { return }
        frames.append((index, pixels))
        bytes += pixels.bytes.count
        while bytes > limit || frames.count > Self.maximumCount {
            bytes -= frames.removeFirst().pixels.bytes.count
        }
    }
}
