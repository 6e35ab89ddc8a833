import Synchronization

/// The handle of a transfer, which passes a caller's requests from any thread to the worker's.
final class TransferHandle: Transfer {
    /// The worker, which is kept alive during the transfer.
    let worker: any TransferWorker
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
        worker: any TransferWorker, id: UInt64, request: TransportRequest, receiver: any TransferReceiver,
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

/// The performer of transfers on a thread of its own.
protocol TransferWorker: AnyObject, Sendable {
    /// Makes the thread perform `command`, after earlier commands.
    func send(_ command: TransferCommand)
}

/// A command for the thread of transfers from another thread.
///
/// Commands are values in the thread's inbox, not jobs of an actor, so that starting and ending a transfer takes no
/// task.
enum TransferCommand: Sendable {
    case begin(TransferHandle)
    case cancel(TransferHandle)
    case resume(TransferHandle)
    case resolved(UInt64, host: String, DNSCache.Answer)
    case answered(UInt64, CredentialStore.Key, SharedCredentials.Answer)
}
