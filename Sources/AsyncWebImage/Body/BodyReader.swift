/// The position of one decoder in a ``BodyLog``.
///
/// Releasing the reader releases its position.
final class BodyReader: Sendable {
    private let log: BodyLog
    private let id: UInt64

    init(log: BodyLog, id: UInt64) {
        self.log = log
        self.id = id
    }

    deinit { log.remove(id) }

    /// Returns the pieces received since the last call, at most `limit`; waits until there are any.
    ///
    /// Empty after ``wake()``, `nil` at the end.
    ///
    /// Throws the error that ended the download, and `CancellationError` when the task is canceled.
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

    /// A Boolean value that indicates whether the whole body has been received and read.
    var isAtEnd: Bool { log.isAtEnd(id) }

    /// Suspends reading until ``next()``, so that others need not wait for this reader.
    func suspendReading() { log.suspendReading(id) }

    /// Makes a waiting ``next()`` return, for example because a preview is due.
    func wake() { log.wake(id) }
}
