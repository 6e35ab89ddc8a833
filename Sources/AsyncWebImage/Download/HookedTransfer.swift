import HTTPTransport
import Threading
import ResponseCache

/// A transfer with hooks: what comes from the transport passes through them on its way to the receiver.
///
/// The receiver is called by one task, so one call after the other, as by a transport.
final class HookedTransfer: Transfer {
    private struct State {
        var task: Task<Void, Never>?
        var isCancelled = false
        var inner: (any Transfer)?
        var isResumed = false
        /// The task, while the receiver wants nothing.
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let hooks: DownloadHooks
    private let receiver: DownloadReceiver
    private let state = Locked(State())

    /// Starts at once.
    init(
        _ request: TransportRequest, over transport: CachingTransport, _ decision: CacheDecision?, hooks: DownloadHooks,
        receiver: DownloadReceiver
    ) {
        self.hooks = hooks
        self.receiver = receiver
        // Nobody's task: hooks may suspend, and whoever starts a transfer does not wait for its end.
        let task = Task.detached { await self.run(request, transport, decision) }
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    func cancel() {
        let (task, inner, waiting) = state.withLock { state in
            state.isCancelled = true
            defer { state.waiting = nil }
            return (state.task, state.inner, state.waiting)
        }
        task?.cancel()
        inner?.cancel()
        waiting?.resume()
    }

    func resume() {
        let waiting = state.withLock { state in
            state.isResumed = true
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    private func run(
        _ request: TransportRequest, _ transport: CachingTransport, _ decision: CacheDecision?
    ) async {
        do {
            let request = try await hooks.request(instead: request)
            try Task.checkCancellation()
            try await receive(request, transport, decision)
        } catch let error as ImageError {
            receiver.fail(error)
        } catch {
            receiver.fail(.transport(TransportError(url: request.url.string, reason: .cancelled)))
        }
    }

    private func receive(
        _ request: TransportRequest, _ transport: CachingTransport, _ decision: CacheDecision?
    ) async throws {
        let inlet = HookInlet()
        let inner = transport.start(request, decision, receiver: inlet)
        inlet.attach(inner)
        let isCancelled = state.withLock { state in
            state.inner = inner
            return state.isCancelled
        }
        if isCancelled { inner.cancel() }
        defer { inner.cancel() }

        if let (head, source) = try await inlet.head {
            let isWanted = receiver.accepts(head)
            if isWanted { try await hooks.validate(head) }
            var transformer = isWanted ? try await hooks.transformer(for: head) : nil
            receiver.receive(head, from: source, tellsLength: transformer == nil)
            while let pieces = try await inlet.next() {
                for piece in pieces {
                    let bytes = try await transformer?.transform(piece) ?? piece
                    guard try await deliver(bytes) else { return receiver.finish(.stopped(TransferMetrics())) }
                }
            }
            if case .complete? = inlet.outcome, let rest = try await transformer?.finish(), try await !deliver(rest) {
                return receiver.finish(.stopped(TransferMetrics()))
            }
        }
        receiver.finish(inlet.outcome ?? .failed(TransportError(url: request.url.string, reason: .connectionLost)))
    }

    /// Hands bytes over, once they are wanted; false if no more shall come.
    private func deliver(_ bytes: [UInt8]) async throws -> Bool {
        guard !bytes.isEmpty else { return true }
        while true {
            try Task.checkCancellation()
            state.withLock { $0.isResumed = false }
            switch receiver.receive(bytes.span) {
            case .more: return true
            case .stop: return false
            case .pause: await untilResumed()
            }
        }
    }

    private func untilResumed() async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.isResumed || state.isCancelled { return true }
                state.waiting = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
    }
}
