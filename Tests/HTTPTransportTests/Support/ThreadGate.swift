import Dispatch
import Testing

/// A gate at which threads wait; if it is not opened within a minute, it records an issue and lets them through.
final class ThreadGate: Sendable {
    private let opening = DispatchSemaphore(value: 0)

    func open() { opening.signal() }

    func wait() {
        if opening.wait(timeout: .now() + 60) == .timedOut { Issue.record("a gate has stayed shut") }
        // Lets the next thread through, which waits now or later.
        opening.signal()
    }
}
