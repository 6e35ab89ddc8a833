/// One decoder's place in a ``BodyLog``.
///
/// Gives its place up when it is let go.
final class BodyReader: Sendable {
    private let log: BodyLog
    private let id: UInt64

    init(log: BodyLog, id: UInt64) {
        self.log = log
        self.id = id
    }

    deinit { log.remove(id) }

    /// The pieces that have come since the last call, at most `limit` of them; waits until there are any.
    ///
    /// Empty after ``poke()``, nil at the end.
    ///
    /// Throws what ended the download early, and `CancellationError` when the task is cancelled.
    func next(limit: Int = .max) async throws -> [[UInt8]]? {
        try Task.checkCancellation()
        guard let pieces = try log.read(id, limit: limit) else { return nil }
        guard pieces.isEmpty else { return pieces }
        await withTaskCancellationHandler {
            await log.wait(id)
        } onCancel: {
            log.wake(id)
        }
        try Task.checkCancellation()
        return try log.read(id, limit: limit)
    }

    /// Whether the whole body has come and been read.
    var isAtEnd: Bool { log.isAtEnd(id) }

    /// Says that nothing will be read for a while, so that others need not wait for this reader; until ``next()``.
    func park() { log.park(id) }

    /// Makes a waiting ``next()`` return, for instance because a preview is wanted.
    func poke() { log.wake(id) }
}
