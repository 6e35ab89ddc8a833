import HTTPTransport

/// A transfer that only counts its calls.
package final class TransferProbe: Transfer {
    package let cancels = Tally()
    package let resumes = Tally()
    private let onCancel: @Sendable () -> Void

    /// Creates a transfer; `onCancel` is called when it is canceled.
    package init(onCancel: @escaping @Sendable () -> Void = {}) {
        self.onCancel = onCancel
    }

    package func cancel() {
        cancels.add()
        onCancel()
    }

    package func resume() { resumes.add() }
}
