import HTTPTransport
import Threading

/// Access to the response of a load before its result is available, without retaining the body.
final class ResponseAccess: Sendable {
    private struct State {
        weak var log: BodyLog?
        var final: ResponseHead?
    }

    private let state = Locked(State())

    /// The head of the response; `nil` until one is accepted, and after the download has ended without ``finish(_:)``.
    var head: ResponseHead? { state.withLock { $0.final ?? $0.log?.head } }

    /// Sets the body of the load.
    func attach(_ log: BodyLog) {
        state.withLock { $0.log = log }
    }

    /// Sets the head of the response of a successful load.
    func finish(_ head: ResponseHead) {
        state.withLock { $0.final = head }
    }
}
