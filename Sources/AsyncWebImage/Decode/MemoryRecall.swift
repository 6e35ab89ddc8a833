import Synchronization

/// A request of the decoder to return memory for which others wait.
final class MemoryRecall: Sendable {
    private let isMade = Atomic(false)
    private let notify: @Sendable () -> Void

    /// Creates a request that calls `notify` each time it is made.
    init(notify: @escaping @Sendable () -> Void) {
        self.notify = notify
    }

    /// A Boolean value that indicates whether the request has been made.
    var isRequested: Bool { isMade.load(ordering: .relaxed) }

    /// Makes the request.
    func request() {
        isMade.store(true, ordering: .relaxed)
        notify()
    }
}

/// The error that ends a decode to return its memory; the decode is repeated when the body has been received.
struct MemoryRecalled: Error {}
