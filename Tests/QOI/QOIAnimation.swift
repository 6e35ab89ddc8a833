import ImageCodecs

/// Finds the frames of an animation: "qoia", the size and the number of repetitions in 14 bytes, and then, for each frame,
/// the delay in milliseconds, the length of a QOI file of the same size, and that file.
struct QOIAnimation: CustomAnimation {
    static let headerLength = 14
    static let frameHeaderLength = 6

    let size: PixelSize
    private(set) var repetitionCount = 0
    /// The bytes of an incomplete frame, or of the header.
    private var pending: [UInt8] = []
    private var isBehindHeader = false

    init(_ size: PixelSize) {
        self.size = size
    }

    mutating func append(_ bytes: Span<UInt8>) throws(CodecError) -> [CustomFrame] {
        for index in bytes.indices { pending.append(bytes[index]) }
        if !isBehindHeader {
            guard pending.count >= Self.headerLength else { return [] }
            repetitionCount = number(at: 12, bytes: 2)
            pending.removeFirst(Self.headerLength)
            isBehindHeader = true
        }
        var frames: [CustomFrame] = []
        while pending.count >= Self.frameHeaderLength {
            let end = Self.frameHeaderLength + number(at: 2, bytes: 4)
            guard pending.count >= end else { break }
            let delay = Duration.milliseconds(number(at: 0, bytes: 2))
            frames.append(
                CustomFrame(file: Array(pending[Self.frameHeaderLength..<end]), size: size, delay: delay))
            pending.removeFirst(end)
        }
        return frames
    }

    mutating func finish() throws(CodecError) {
        guard isBehindHeader, pending.isEmpty else { throw .truncated(QOIFormat().format) }
    }

    private func number(at offset: Int, bytes: Int) -> Int {
        (0..<bytes).reduce(0) { $0 << 8 | Int(pending[offset + $1]) }
    }
}
