/// The number of bytes of a body that the peer may send before they are consumed (RFC 9113, section 5.2).
///
/// It grows while the body is consumed promptly, so that a long way does not limit the rate, and a paused stream holds
/// little.
struct HTTP2StreamWindow {
    static let initialSize = 1 << 20
    static let maximumSize = 8 << 20

    private(set) var size = initialSize
    private var unconsumedCount = 0
    /// The number of bytes that have been consumed since more than half a window was left to be consumed.
    private var promptCount = 0
    private var isBehind: Bool { unconsumedCount > size / 2 }

    /// Records that `count` bytes have arrived.
    mutating func receive(_ count: Int) {
        unconsumedCount += count
        if isBehind { promptCount = 0 }
    }

    /// Records that `count` bytes have been consumed; returns their number, which excludes those that have not arrived.
    mutating func consume(_ count: Int) -> Int {
        let count = max(0, min(count, unconsumedCount))
        promptCount = isBehind ? 0 : promptCount + count
        unconsumedCount -= count
        return count
    }

    /// Doubles the size if a whole window has been consumed promptly; returns whether it has.
    mutating func grow() -> Bool {
        guard promptCount >= size, size < Self.maximumSize else { return false }
        size *= 2
        promptCount = 0
        return true
    }
}
