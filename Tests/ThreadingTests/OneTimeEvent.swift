import Dispatch
import Testing

/// An event that threads wait for; a wait of more than a minute is an issue.
final class OneTimeEvent: Sendable {
    private let happening = DispatchSemaphore(value: 0)

    func happen() { happening.signal() }

    func wait() {
        if happening.wait(timeout: .now() + 60) == .timedOut { Issue.record("an event has not happened") }
    }
}
