import Synchronization

/// The handle of a transfer, which passes a caller's requests from any thread to the worker's.
final class CurlTransferHandle: Transfer {
    let worker: CurlWorker
    let id: UInt64
    /// The original request, before redirects.
    let request: TransportRequest
    let receiver: any TransferReceiver
    /// The receiver, if it can have bodies written to its own memory.
    let directReceiver: (any DirectBodyReceiver)?
    /// The key of the connections for the original request; `nil` if the transport has one thread only.
    let connectionKey: ConnectionKey?
    private let cancelled = Atomic(false)

    init(
        worker: CurlWorker, id: UInt64, request: TransportRequest, receiver: any TransferReceiver,
        connectionKey: ConnectionKey?
    ) {
        self.worker = worker
        self.connectionKey = connectionKey
        self.id = id
        self.request = request
        self.receiver = receiver
        directReceiver = receiver as? any DirectBodyReceiver
    }

    /// A Boolean value that indicates whether the receiver must be notified of a cancellation, regardless of other
    /// outcomes.
    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    func cancel() {
        guard !cancelled.exchange(true, ordering: .relaxed) else { return }
        worker.send(.cancel(self))
    }

    func resume() {
        worker.send(.resume(self))
    }
}
