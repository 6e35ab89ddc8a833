internal import NIOCore

extension LoopbackOrigin.Response {
    /// The number of times that bytes are sent.
    public enum Repetition: Sendable, Hashable {
        /// The bytes are sent this number of times, or not at all if it is not positive.
        case times(Int)
        /// The bytes are sent until the connection is closed.
        case endlessly

        /// The bytes are sent once.
        public static let once = Repetition.times(1)
    }
}

/// Bytes that are sent repeatedly; only one block of copies is held in memory.
struct RepeatedBytes: Sendable {
    /// One copy; never empty.
    let unit: ByteBuffer
    /// The length of all copies; `nil` if endless.
    let length: Int?
    /// The pause before each copy.
    let interval: TimeAmount?
    /// Enough copies to fill the largest piece at any offset.
    private let block: ByteBuffer

    /// Creates repeated bytes; returns `nil` if there is nothing to send.
    init?(_ unit: ByteBuffer, _ repetition: LoopbackOrigin.Response.Repetition = .once, every interval: Duration? = nil)
    {
        let size = unit.readableBytes
        guard size > 0 else { return nil }
        self.unit = unit
        self.interval = interval.map { TimeAmount($0) }
        switch repetition {
        case .endlessly: length = nil
        case .times(let count):
            guard count > 0 else { return nil }
            let (product, isTooLarge) = count.multipliedReportingOverflow(by: size)
            length = isTooLarge ? nil : product
        }
        guard length != size, interval == nil else {
            block = unit
            return
        }
        var block = ByteBuffer()
        for _ in 0...(BytePieces.largest / size + 1) { block.writeImmutableBuffer(unit) }
        self.block = block
    }

    /// Returns at most `limit` bytes from `offset`, which must be before the end.
    func piece(at offset: Int, limit: Int) -> ByteBuffer {
        let start = offset % unit.readableBytes
        let left = length.map { $0 - offset } ?? .max
        return block.piece(at: start, count: min(limit, left, block.readableBytes - start))
    }

    /// Returns whether a copy starts at `offset`.
    func startsCopy(at offset: Int) -> Bool { offset.isMultiple(of: unit.readableBytes) }
}

/// The bytes of several parts, split into pieces on demand.
struct BytePieces {
    /// The maximum size of a piece, so that slow readers are noticed early.
    static let largest = 64 * 1_024

    private var parts: ArraySlice<RepeatedBytes>
    private var offset = 0

    init(_ parts: [RepeatedBytes]) {
        self.parts = parts[...]
    }

    /// Returns the next piece of at most `limit` bytes and the pause before it; `nil` at the end.
    mutating func next(limit: Int = largest) -> (bytes: ByteBuffer, pause: TimeAmount?)? {
        guard let part = parts.first else { return nil }
        let pause = part.startsCopy(at: offset) ? part.interval : nil
        let bytes = part.piece(at: offset, limit: min(limit, Self.largest))
        offset += bytes.readableBytes
        if offset == part.length {
            parts.removeFirst()
            offset = 0
        }
        return (bytes, pause)
    }
}

extension ByteBuffer {
    /// Returns a part of the readable bytes without copying; empty if it is out of range.
    func piece(at offset: Int, count: Int) -> ByteBuffer {
        getSlice(at: readerIndex + offset, length: count) ?? ByteBuffer()
    }
}
