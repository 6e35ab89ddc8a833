import Glibc
import Testing
import Threading

/// A gate at which threads wait; one that stays shut is an issue, and lets them through after a minute.
final class ThreadGate: Sendable {
    private let isOpen = Locked(false)

    func open() { isOpen.withLock { $0 = true } }

    func wait() {
        let end = ContinuousClock.now + .seconds(60)
        while !isOpen.withLock({ $0 }) {
            guard ContinuousClock.now < end else {
                Issue.record("a gate has stayed shut")
                return
            }
            sched_yield()
        }
    }
}
