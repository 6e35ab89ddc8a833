import Glibc

/// The resources used by this process between two moments.
struct Usage: Sendable {
    let wall: Duration
    /// In user mode and in the kernel, all threads together.
    let cpu: Duration

    /// Measures the usage of `body`, including other work of the process in the meantime.
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
    /// In user mode and in the kernel.
    var cpu: Duration {
        [ru_utime, ru_stime].reduce(.zero) { $0 + .seconds($1.tv_sec) + .microseconds($1.tv_usec) }
    }
}

extension Duration {
    /// Seconds with their fraction.
    var seconds: Double { self / .seconds(1) }
    /// Milliseconds with their fraction.
    var milliseconds: Double { self / .milliseconds(1) }
    /// Microseconds with their fraction.
    var microseconds: Double { self / .microseconds(1) }

    /// Whole nanoseconds; none if negative.
    var nanoseconds: UInt64 { UInt64(max(0, self / .nanoseconds(1))) }
}
