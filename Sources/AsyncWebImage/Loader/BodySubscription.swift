import DequeModule
import HTTPTransport
import ImageCodecs
import ResponseCache
import Threading

/// The place of one consumer in a download, which joins it when it is opened, and leaves it when it is released.
final class BodySubscription: Sendable {
    private struct State {
        /// The received pieces that have not been delivered.
        var held: Deque<[UInt8]> = []
        /// A Boolean value that indicates whether pieces of the current body have been delivered.
        var hasDelivered = false
        var header: ImageHeader?
        /// A Boolean value that indicates whether an error has been thrown, after which nothing is delivered.
        var hasFailed = false
    }

    let feed: BodyStream
    private let subscriber: Subscriber
    private let coordinator: DownloadCoordinator
    private let readsHeader: Bool
    private let state = Locked(State())

    init(_ subscriber: Subscriber, feed: BodyStream, coordinator: DownloadCoordinator, readsHeader: Bool = false) {
        self.subscriber = subscriber
        self.feed = feed
        self.coordinator = coordinator
        self.readsHeader = readsHeader || subscriber.conditions?.requirements != nil
    }

    deinit { cancel() }

    /// The header of the current body, if it is read.
    var header: ImageHeader? { state.withLock { $0.header } }

    /// Joins the download, and waits until its head and first pieces have been received.
    func open() async throws -> ImageBytes {
        try await leavingOnFailure {
            coordinator.post(.join(subscriber))
            try await receive()
            // The time can have passed while this task waited for its thread.
            guard subscriber.conditions?.endTime() ?? true else { throw subscriber.timeout }
        }
        // A body has at least one piece, which comes after the head.
        guard let head = feed.head, let source = feed.source else { throw CancellationError() }
        return ImageBytes(self, head, source)
    }

    func next() async throws -> [UInt8]? {
        if state.withLock({ $0.hasFailed }) { return nil }
        if let piece = takePiece() { return piece }
        try await leavingOnFailure { try await receive() }
        return takePiece()
    }

    private func takePiece() -> [UInt8]? {
        state.withLock { state in
            guard let piece = state.held.popFirst() else { return nil }
            state.hasDelivered = true
            return piece
        }
    }

    /// Performs `body`, and leaves the download if it fails, unless the next body can be read.
    private func leavingOnFailure(_ body: () async throws -> Void) async throws {
        try await withTaskCancellationHandler {
            do {
                try await body()
            } catch let error as ImageBytes.StartedOver {
                throw error
            } catch {
                // What follows an error, or belongs to a file that is not wanted, is not delivered.
                state.withLock { ($0.held, $0.hasFailed) = ([], true) }
                // The feed can end with an error before `cancel()`, which then does not leave.
                if feed.isFinished { coordinator.post(.leave(subscriber.id)) } else { cancel() }
                throw error
            }
        } onCancel: {
            cancel()
        }
    }

    // MARK: Receiving

    /// Receives the next piece; if the header is needed, all pieces up to it.
    ///
    /// Throws ``ImageBytes/StartedOver`` if the body starts over after pieces of it were delivered.
    private func receive() async throws {
        if readsHeader, header == nil {
            let decoder = coordinator.environment.decoder
            return try await withTaskExecutorPreference(decoder.threads) { try await receiveHeader(decoder) }
        }
        while true {
            switch try await feed.next() {
            case .bytes(let piece): return state.withLock { $0.held.append(piece) }
            case .restart:
                try restart()
                // Without delivered pieces, only their header has been seen.
                if readsHeader { return try await receive() }
            case nil: return
            }
        }
    }

    // Parses on the decoder's threads, not on the actor of the caller.
    @concurrent private func receiveHeader(_ decoder: ImageDecoder) async throws {
        var codec = decoder.codec(DecodeOptions())
        var isEmpty = true
        do {
            while true {
                switch try await feed.next() {
                case .bytes(let piece):
                    isEmpty = false
                    state.withLock { $0.held.append(piece) }
                    try codec.append(piece.span)
                    if let header = codec.header { return try accept(header) }
                case .restart:
                    try restart()
                    (codec, isEmpty) = (decoder.codec(DecodeOptions()), true)
                case nil:
                    // The sequence has ended before.
                    if isEmpty { return }
                    if codec.takesLong {
                        try await decoder.threads.doLongWork { try codec.lookForHeaderAtEnd() }
                    } else {
                        try codec.lookForHeaderAtEnd()
                    }
                    // Without a header, the codec throws the reason.
                    return try accept(try codec.header ?? codec.finish().header)
                }
            }
        } catch let error as CodecError {
            throw ImageError.codec(error, url: subscriber.key.url.string)
        }
    }

    private func accept(_ header: ImageHeader) throws {
        if let refusal = subscriber.refusal(of: header) { throw refusal }
        state.withLock { $0.header = header }
    }

    /// Drops the received pieces of a body that starts over; throws an error if some were delivered.
    private func restart() throws(ImageBytes.StartedOver) {
        let hadDelivered = state.withLock { state in
            defer { state = State() }
            return state.hasDelivered
        }
        if hadDelivered { throw ImageBytes.StartedOver() }
    }

    func cancel() {
        guard !feed.isFinished else { return }
        coordinator.post(.leave(subscriber.id, keeping: feed.leave()))
    }
}
