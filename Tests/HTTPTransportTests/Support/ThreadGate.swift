import Dispatch
import Testing

/// A gate at which threads wait; one that stays shut is an issue, and lets them through after a minute.
final class ThreadGate: Sendable {
    private let opening = DispatchSemaphore(value: 0)

    func open() { opening.signal() }

    func wait() {
        if opening.wait(timeout: .now() + 60) == .timedOut { Issue.record("a gate has stayed shut") }
        // For the next waiting thread, now or later.
        opening.signal()
    }
}
