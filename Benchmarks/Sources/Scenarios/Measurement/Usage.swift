import Glibc

/// The time that a process used.
struct Usage: Sendable {
    let wall: Duration
    /// The CPU time of all threads in user mode and in the kernel.
    let cpu: Duration

    /// Runs `body` and returns its result and its usage, including other work of the process in the meantime.
    static func measuring<Result>(_ body: () async throws -> Result) async rethrows -> (Result, Usage) {
        let (started, cpuBefore) = (ContinuousClock.now, processorTime())
        let result = try await body()
        return (result, Usage(wall: .now - started, cpu: processorTime() - cpuBefore))
    }

    /// The number of minor page faults of this process so far.
    static var pageFaults: Int {
        var usage = rusage()
        _ = unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_minflt
    }

    private static func processorTime() -> Duration {
        var usage = rusage()
        _ = unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.cpu
    }
}

extension rusage {
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
