/// A clock that measures the time since its creation with another clock.
struct Stopwatch: Clock {
    struct Instant: InstantProtocol {
        var elapsed = Duration.zero

        func advanced(by duration: Duration) -> Instant { Instant(elapsed: elapsed + duration) }
        func duration(to other: Instant) -> Duration { other.elapsed - elapsed }
        static func < (left: Instant, right: Instant) -> Bool { left.elapsed < right.elapsed }
    }

    private let elapsed: @Sendable () -> Duration
    private let sleep: @Sendable (_ elapsed: Duration, _ tolerance: Duration?) async throws -> Void
    let minimumResolution: Duration

    /// A hundred years, near the limit of clocks.
    static let longest = Duration.seconds(100 * 365 * 86_400 as Int64)

    init(_ clock: some Clock<Duration>) {
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: start.advanced(by: $0), tolerance: $1) }
        minimumResolution = clock.minimumResolution
    }

    var now: Instant { Instant(elapsed: elapsed()) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await sleep(deadline.elapsed, tolerance)
    }
}
