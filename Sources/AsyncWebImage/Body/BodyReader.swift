/// The position of one decoder in a ``BodyLog``.
///
/// Releasing the reader releases its position.
package final class BodyReader: Sendable {
    private let log: BodyLog
    private let id: BodyBuffer.ReaderID
    /// The digest to which the bytes are added.
    private let digest: SharedDigest?

    init(log: BodyLog, id: BodyBuffer.ReaderID, digest: SharedDigest? = nil) {
        self.log = log
        self.id = id
        self.digest = digest
    }

    deinit { log.remove(id) }

    /// Returns the pieces received since the last call, at most `limit`; waits until there are any.
    ///
    /// With `inBatches`, a wait ends only when a part of the body has been received for which it is worthwhile to wake
    /// a thread. Empty after ``wake()``, `nil` at the end.
    ///
    /// Throws the error that ended the download, and `CancellationError` when the task is canceled.
    func next(limit: Int = .max, inBatches: Bool = false) async throws -> [[UInt8]]? {
        try Task.checkCancellation()
        guard let pieces = try read(limit) else { return nil }
        guard pieces.isEmpty else { return pieces }
        await withTaskCancellationHandler {
            await log.wait(id, for: inBatches ? .batch : .bytes)
        } onCancel: {
            log.wake(id)
        }
        try Task.checkCancellation()
        return try read(limit)
    }

    @inline(never)  // Its variables would be kept by each of the thousands of readers that can wait in next(limit:).
    private func read(_ limit: Int) throws -> [[UInt8]]? {
        let pieces = try log.read(id, limit: limit)
        if let digest, let pieces, !pieces.isEmpty, let position = log.position(of: id) {
            try digest.add(pieces, upTo: position)
        }
        return pieces
    }

    /// Reads the rest of the body, and returns its digest; `nil` if none is computed.
    ///
    /// Throws the errors of ``next(limit:)``, and `BodyRestarted` if what was read before is void.
    func bodyDigest() async throws -> BodyDigest? {
        guard let digest else { return nil }
        while try await next() != nil {}
        return try digest.value()
    }

    /// A Boolean value that indicates whether the whole body has been received and read.
    var isAtEnd: Bool { log.isAtEnd(id) }

    /// The number of bytes in the body, if declared.
    package var expectedLength: Int? { log.progress.expected }

    /// Continues with the first byte; returns `false` if there is a batch to read, the body has ended, or its beginning
    /// has been discarded.
    ///
    /// In the last case, a body that waits for its next attempt starts over. Others need not wait for this reader until it reads again.
    func rewind(onlyBetweenAttempts: Bool = false) -> Bool {
        log.rewind(id, onlyBetweenAttempts: onlyBetweenAttempts)
    }

    /// Waits until the body has ended, or no more of it is received before it is read.
    ///
    /// Throws `CancellationError` when the task is canceled.
    func waitForBody() async throws {
        while !log.hasBody(for: id) {
            await withTaskCancellationHandler {
                await log.wait(id, for: .body)
            } onCancel: {
                log.wake(id)
            }
            try Task.checkCancellation()
        }
    }

    /// Suspends reading until ``next()``, so that others need not wait for this reader.
    func suspendReading() { log.suspendReading(id) }

    /// Sets whether the bytes that have been read are held by the decode, and count as memory of the body.
    func setKeepsBytes(_ keepsBytes: Bool) { log.setKeepsBytes(keepsBytes, id) }

    /// Makes a waiting ``next()`` return, for example because a preview is due.
    func wake() { log.wake(id) }
}
