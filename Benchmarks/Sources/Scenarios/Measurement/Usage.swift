import AllocationCounter
import Glibc

/// The resources that a process used.
struct Usage: Sendable {
    let wall: Duration
    /// The CPU time of all threads in user mode and in the kernel.
    let cpu: Duration
    /// The number of minor page faults, which need no input.
    let pageFaults: Int
    /// The number of times that a thread waited or was preempted.
    let contextSwitches: Int
    /// The number of allocations by all threads; 0 if they are not counted, and `nil` for other processes.
    let allocations: Int?

    /// Runs `body` and returns its result and its usage, including other work of the process in the meantime.
    static func measuring<Result>(_ body: () async throws -> Result) async rethrows -> (Result, Usage) {
        let (started, before, allocations) = (ContinuousClock.now, rusage.current, allocation_counter_count())
        let result = try await body()
        let after = rusage.current
        let usage = Usage(
            wall: .now - started, cpu: after.cpu - before.cpu, pageFaults: after.ru_minflt - before.ru_minflt,
            contextSwitches: after.contextSwitches - before.contextSwitches,
            allocations: Int(allocation_counter_count() - allocations))
        return (result, usage)
    }
}

extension rusage {
    /// The resources that this process has used so far.
    fileprivate static var current: rusage {
        var usage = rusage()
        _ = unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage
    }

    /// The number of voluntary and involuntary context switches.
    var contextSwitches: Int { ru_nvcsw + ru_nivcsw }

    /// The CPU time in user mode and in the kernel.
    var cpu: Duration {
        [ru_utime, ru_stime].reduce(.zero) { $0 + .seconds($1.tv_sec) + .microseconds($1.tv_usec) }
    }
}

extension Duration {
    /// The duration in seconds, including fractions.
    var seconds: Double { self / .seconds(1) }
    /// The duration in milliseconds, including fractions.
    var milliseconds: Double { self / .milliseconds(1) }
    /// The duration in microseconds, including fractions.
    var microseconds: Double { self / .microseconds(1) }

    /// The duration in whole nanoseconds, or 0 if it is negative.
    var nanoseconds: UInt64 { UInt64(max(0, self / .nanoseconds(1))) }
}
