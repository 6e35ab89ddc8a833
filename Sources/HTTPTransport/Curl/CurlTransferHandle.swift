import Synchronization

/// What the caller holds of a transfer: from any thread, its wishes to the transport's.
final class CurlTransferHandle: Transfer {
    let transport: CurlTransport
    let id: UInt64
    /// The request as it was given, before redirects.
    let request: TransportRequest
    let receiver: any TransferReceiver
    private let cancelled = Atomic(false)

    init(transport: CurlTransport, id: UInt64, request: TransportRequest, receiver: any TransferReceiver) {
        self.transport = transport
        self.id = id
        self.request = request
        self.receiver = receiver
    }

    /// A Boolean value that indicates whether the receiver is to hear of a cancellation whatever else happens to the transfer.
    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    func cancel() {
        guard !cancelled.exchange(true, ordering: .relaxed) else { return }
        transport.send(.cancel(self))
    }

    func resume() {
        transport.send(.resume(self))
    }
}
