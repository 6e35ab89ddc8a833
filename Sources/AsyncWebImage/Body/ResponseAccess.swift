import HTTPTransport
import Threading

/// Access to the response of a load before its result is available, without retaining the body.
final class ResponseAccess: Sendable {
    private struct WeakLog {
        weak var log: BodyLog?
    }

    private let state = Locked(WeakLog())

    /// The head of the response; `nil` until one is accepted, and after the download has ended.
    var head: ResponseHead? { state.withLock { $0.log }?.head }

    /// Sets the body of the load.
    func attach(_ log: BodyLog) {
        state.withLock { $0.log = log }
    }
}
