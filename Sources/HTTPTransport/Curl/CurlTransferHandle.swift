import Synchronization

/// The handle of a transfer, which passes a caller's requests from any thread to the transport's.
final class CurlTransferHandle: Transfer {
    let transport: CurlTransport
    let id: UInt64
    /// The original request, before redirects.
    let request: TransportRequest
    let receiver: any TransferReceiver
    private let cancelled = Atomic(false)

    init(transport: CurlTransport, id: UInt64, request: TransportRequest, receiver: any TransferReceiver) {
        self.transport = transport
        self.id = id
        self.request = request
        self.receiver = receiver
    }

    /// A Boolean value that indicates whether the receiver must be notified of a cancellation, regardless of other
    /// outcomes.
    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    func cancel() {
        guard !cancelled.exchange(true, ordering: .relaxed) else { return }
        transport.send(.cancel(self))
    }

    func resume() {
        transport.send(.resume(self))
    }
}
