import HTTPTransport
import ResponseCache
import Threading

/// A transfer of a response that is delivered as the transport receives it, and stored on the way.
///
/// Used for a request for which the response cache has nothing, which needs no task: there is no other response to
/// compare this one with. A redirect, whose target may be stored, is left to a ``PulledTransfer``.
final class StoringTransfer: Transfer {
    /// The use of the response.
    private enum Use {
        case undecided
        /// It is delivered, and no caller has needed more than its beginning, which the receiver keeps: few would ever
        /// continue it, and writing it costs more than reading a header.
        case beginning(ResponseHead)
        /// It is delivered, and stored if there is a writer.
        case delivered(EntryWriter?)
        /// It is pulled by another transfer.
        case pulled(BodyPipe, PulledTransfer)
    }

    private struct State {
        var use = Use.undecided
        var isCancelled = false
    }

    private let request: TransportRequest
    private let uncached: UncachedRequest
    private let cache: ResponseCache
    private let policy: CachePolicy
    private let transport: any Transport
    private let receiver: DownloadReceiver
    private let network = StartingTransfer()
    private let state = Locked(State())

    /// Starts a transfer at once; returns `nil` if the request bypasses the cache.
    init?(
        _ request: TransportRequest, _ cache: ResponseCache, _ policy: CachePolicy, over transport: any Transport,
        receiver: DownloadReceiver
    ) {
        var request = request
        // The transport must not follow redirects.
        request.followedRedirects = 0
        guard let uncached = UncachedRequest(request, cache, policy: policy) else { return nil }
        (self.request, self.uncached, self.cache, self.policy) = (request, uncached, cache, policy)
        (self.transport, self.receiver) = (transport, receiver)
        network.begin(transport.start(request, receiver: self))
    }

    func cancel() {
        let use = state.withLock { state in
            state.isCancelled = true
            return state.use
        }
        if case .pulled(_, let transfer) = use { transfer.cancel() } else { network.cancel() }
    }

    func resume() {
        if case .pulled(_, let transfer) = state.withLock({ $0.use }) { transfer.resume() } else { network.resume() }
    }
}

// MARK: - The transport's thread

extension StoringTransfer: DirectBodyReceiver {
    func receive(_ head: ResponseHead) {
        guard head.redirection == nil else { return pull(head) }
        uncached.recordMiss()
        let head = uncached.timed(head)
        receiver.receive(head)
        if receiver.keepsBeginning {
            state.withLock { $0.use = .beginning(head) }
        } else {
            let writer = uncached.writer(for: head)
            state.withLock { $0.use = .delivered(writer) }
        }
    }

    /// Leaves the response to a transfer that pulls it, and follows the redirect.
    private func pull(_ head: ResponseHead) {
        let pipe = BodyPipe(url: request.url)
        pipe.attach(network)
        pipe.receive(head)
        let responder = NetworkResponder(transport, after: .init(pipe, requestedAt: uncached.requestedAt))
        let caching = CachingResponder(
            cache, policy: policy, decision: .fetch(standIn: nil), interest: responder.interest, before: responder)
        let transfer = PulledTransfer(
            request, to: RedirectingResponder(before: caching), over: responder, receiver: receiver)
        let isCancelled = state.withLock { state in
            state.use = .pulled(pipe, transfer)
            return state.isCancelled
        }
        if isCancelled { transfer.cancel() }
    }

    /// The use of the next piece: if a caller needs the whole body, storing it begins with what the receiver has kept.
    private var useOfNextPiece: Use {
        let use = state.withLock { $0.use }
        guard case .beginning(let head) = use, !receiver.keepsBeginning else { return use }
        return store(head)
    }

    /// Begins to store a response of which the receiver has kept the beginning; returns its use.
    private func store(_ head: ResponseHead) -> Use {
        let writer = uncached.writer(for: head)
        // Without its beginning, a body is not stored.
        let pieces = writer == nil ? nil : receiver.beginning
        for piece in pieces ?? [] { writer?.add(piece) }
        let use = Use.delivered(pieces == nil ? nil : writer)
        state.withLock { $0.use = use }
        return use
    }

    func receive(_ bytes: Span<UInt8>) -> BodyDemand {
        switch useOfNextPiece {
        case .undecided, .beginning, .delivered(nil): return receiver.receive(bytes)
        case .pulled(let pipe, _): return pipe.receive(bytes)
        case .delivered(let writer?):
            guard writer.hasRoom(otherwise: { [network] in network.resume() }) else { return .pause }
            let demand = receiver.receive(bytes)
            if demand != .pause {
                var piece: [UInt8] = []
                piece.append(copying: bytes)
                writer.add(piece)
            }
            return demand
        }
    }

    func receive(upTo count: Int, reading read: (inout OutputSpan<UInt8>) -> Void) -> BodyDemand? {
        switch useOfNextPiece {
        case .beginning, .delivered(nil): receiver.receive(upTo: count, reading: read)
        // What is stored must be copied anyway.
        case .undecided, .pulled, .delivered: nil
        }
    }

    func finish(_ outcome: TransferOutcome) {
        network.end()
        var use = state.withLock { $0.use }
        if case .beginning(let head) = use, case .complete = outcome { use = store(head) }
        switch use {
        case .undecided:
            uncached.recordMiss()
            receiver.finish(outcome)
        case .beginning, .delivered(nil): receiver.finish(outcome)
        case .pulled(let pipe, _): pipe.finish(outcome)
        case .delivered(let writer?): finish(outcome, writer)
        }
    }

    /// Ends a response that is stored: a complete one before it is delivered to the end; of others, the beginning.
    private func finish(_ outcome: TransferOutcome, _ writer: EntryWriter) {
        let deliver = { @Sendable [receiver] in receiver.finish(outcome) }
        switch outcome {
        case .complete: writer.commit(then: deliver)
        case .failed: writer.keep(then: deliver)
        case .stopped:
            writer.release()
            deliver()
        }
    }
}

/// The handle of a transfer whose receiver can be called before the handle is known.
private final class StartingTransfer: Transfer {
    private struct State {
        var transfer: (any Transfer)?
        var isResumed = false
        var isCancelled = false
        var hasEnded = false
    }

    private let state = Locked(State())

    func begin(_ transfer: any Transfer) {
        let early = state.withLock { state in
            if !state.hasEnded { state.transfer = transfer }
            return state
        }
        if early.isCancelled { transfer.cancel() } else if early.isResumed { transfer.resume() }
    }

    /// Releases the handle, which retains the receiver.
    func end() {
        _ = state.withLock { state in
            state.hasEnded = true
            return state.transfer.take()
        }
    }

    func cancel() {
        let transfer = state.withLock { state in
            state.isCancelled = true
            return state.transfer
        }
        transfer?.cancel()
    }

    func resume() {
        let transfer = state.withLock { state in
            state.isResumed = true
            return state.transfer
        }
        transfer?.resume()
    }
}
