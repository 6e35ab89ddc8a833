import Synchronization

/// What the caller holds of a transfer: from any thread, its wishes to the transport's.
final class CurlTransferHandle: Transfer {
    let transport: CurlTransport
    let id: UInt64
    private let cancelled = Atomic(false)

    init(transport: CurlTransport, id: UInt64) {
        self.transport = transport
        self.id = id
    }

    /// Whether the receiver is to hear of a cancellation whatever else happens to the transfer.
    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    func cancel() {
        guard !cancelled.exchange(true, ordering: .relaxed) else { return }
        transport.perform { [id] in $0.cancel(id) }
    }

    func resume() {
        transport.perform { [id] in $0.resume(id) }
    }
}
