import HTTPTransport
import Synchronization
import Threading
import ResponseCache

/// The view of a download that one caller of ``ImageLoader/bytes(for:readsHeader:)`` has: a place in its ``BodyLog``, and its end.
final class BodyStream: Sendable {
    /// The pieces to deliver.
    enum Part: Sendable, Equatable {
        /// The next bytes.
        case bytes([UInt8])
        /// All earlier bytes are invalid; the body starts again.
        case restart
    }

    fileprivate struct State {
        var log: BodyLog?
        var reader: BodyReader?
        var isJoined = false
        /// The digest that the body must have.
        var expectedDigest: BodyDigest?
        /// Set once; nothing is delivered afterward.
        var end: Result<Void, any Error>?
        var head: ResponseHead?
        var source: ResponseSource?
    }

    /// Resolved when the coordinator has found the caller a download, or has none.
    private let attachment = OneShot<Void>()
    private let state = Locked(State())
    private let hasDelivered = Atomic(false)

    /// A Boolean value that indicates whether bytes have been delivered.
    var hasBegun: Bool { hasDelivered.load(ordering: .relaxed) }

    /// A Boolean value that indicates whether the stream has ended or the caller has left.
    var isFinished: Bool { state.withLock { $0.end != nil } }

    /// The head of the response; `nil` until it arrives.
    var head: ResponseHead? { state.withLock { $0.head ?? $0.log?.head } }

    /// The source of the bytes; `nil` until the head arrives.
    var source: ResponseSource? { state.withLock { $0.source ?? $0.currentSource } }

    /// Sets the reader; `isJoined` indicates whether another caller had requested the download before.
    ///
    /// With an expected digest, the reader must compute one.
    func attach(_ reader: BodyReader, of log: BodyLog, isJoined: Bool, expecting digest: BodyDigest? = nil) {
        state.withLock { state in
            guard state.end == nil else { return }
            (state.reader, state.log, state.isJoined, state.expectedDigest) = (reader, log, isJoined, digest)
        }
        attachment.resolve(.success(()))
    }

    /// Ends the stream, unless it has ended, and gives up its place in the body.
    ///
    /// An error is thrown once, by the pending or next call.
    @inline(never)  // Its variables would be kept by each caller that waits in next().
    func finish(_ end: Result<Void, any Error>) {
        let reader = state.withLock { state in
            guard state.end == nil else { return nil as BodyReader? }
            (state.head, state.source) = (state.log?.head, state.currentSource)
            defer { (state.reader, state.log) = (nil, nil) }
            state.end = end
            return state.reader
        }
        reader?.wake()
        attachment.resolve(.success(()))
    }

    /// Ends the stream for a caller that leaves, and returns its place in the body; `nil` if it has none.
    ///
    /// The place is kept until the coordinator has stopped the transfer: without its last reader, nothing would hold it back.
    func leave() -> BodyReader? {
        let reader = state.withLock { $0.reader }
        finish(.failure(CancellationError()))
        return reader
    }

    /// Lets other readers of the same body advance until ``next()``.
    func suspendReading() { state.withLock { $0.reader }?.suspendReading() }

    /// Returns the next piece; `nil` at the end, and after an error.
    func next() async throws -> Part? {
        try await attachment.value
        while let reader = state.withLock({ $0.reader }) {
            do {
                guard let pieces = try await reader.next(limit: 1) else {
                    try await checkDigest(of: reader)
                    finish(.success(()))
                    break
                }
                // Nothing is delivered behind the end, which may have come meanwhile.
                if isFinished { break }
                // Without one the reader was woken for nothing.
                if let piece = pieces.first {
                    hasDelivered.store(true, ordering: .relaxed)
                    return .bytes(piece)
                }
            } catch is BodyRestarted {
                if !isFinished { return .restart }
            } catch {
                finish(.failure(error))
            }
        }
        return try endOfStream()
    }

    /// Throws ``ImageError`` if a complete body has another digest than the expected one.
    @inline(never)  // As finish(_:).
    private func checkDigest(of reader: BodyReader) async throws {
        let (expected, origin) = state.withLock { ($0.expectedDigest, $0.log?.origin) }
        guard let expected, let actual = try await reader.bodyDigest(), actual != expected, let origin else { return }
        throw ImageError.digestMismatch(origin.head, expected: expected, actual: actual, from: origin.source)
    }

    @inline(never)  // As finish(_:).
    private func endOfStream() throws -> Part? {
        let end = state.withLock { state in
            defer { state.end = .success(()) }
            return state.end
        }
        try end?.get()
        return nil
    }
}

extension BodyStream.State {
    fileprivate var currentSource: ResponseSource? {
        guard let log, log.head != nil else { return nil }
        return isJoined ? .joined : log.source
    }
}
