import Engines

/// Callers of slow URLs, of which all but one cancel at random times that are the same in every run.
struct CancelingCallers: Sendable {
    let origin: Origin
    /// The prefix of the URLs, followed by a number.
    let prefix: String
    let urls: Int
    let callers: Int
    /// The period in which callers cancel.
    let window: Duration

    struct Run: Sendable {
        /// The durations of the calls that cancel.
        let cancels: Percentiles
        /// The number of callers notified of their cancellation.
        let callersTold: Int
        /// The number of transfers still running after all but one caller have canceled, without that caller's.
        let transfersLeft: Int
        /// The number of bytes received by the remaining caller.
        let bodyBytes: Int
    }

    /// The time that an engine may take to stop unwanted transfers.
    private static let grace = Duration.milliseconds(500)

    func run(on type: (some SharingEngine).Type, concurrency: Int) async throws -> (Run, Usage) {
        let engine = try type.init(concurrency: concurrency)
        let measured = try await Usage.measuring { try await run(on: engine) }
        try await engine.shutdown()
        return measured
    }

    private func run(on engine: some SharingEngine) async throws -> Run {
        var handles = (0..<callers).map { engine.start("\(prefix)\($0 % urls)") }
        var generator = SplitMix64(seed: 3)
        handles.shuffle(using: &generator)
        let cancels = try await cancelAllButLast(handles, engine, &generator)
        try await Task.sleep(for: Self.grace)
        // The remaining caller's own transfer can still be running.
        let transfersLeft = max(0, try origin.status().runningRequests - 1)
        let answers = try await answers(to: handles, engine)
        return Run(
            cancels: Percentiles(nanoseconds: cancels), callersTold: answers.told, transfersLeft: transfersLeft,
            bodyBytes: answers.bodyBytes)
    }

    /// Cancels all callers but the last, and returns the duration of each call in nanoseconds.
    private func cancelAllButLast<E: SharingEngine>(
        _ handles: [E.Handle], _ engine: E, _ generator: inout SplitMix64
    ) async throws -> [UInt64] {
        let started = ContinuousClock.now
        let moments = (1..<handles.count).map { _ in window * Double.random(in: 0...1, using: &generator) }.sorted()
        var cancels: [UInt64] = []
        for (handle, moment) in zip(handles, moments) {
            if started + moment > .now { try await Task.sleep(until: started + moment) }
            let called = ContinuousClock.now
            engine.cancel(handle)
            cancels.append((.now - called).nanoseconds)
        }
        return cancels
    }

    private func answers<E: SharingEngine>(
        to handles: [E.Handle], _ engine: E
    ) async throws -> (told: Int, bodyBytes: Int) {
        var (told, bodyBytes) = (0, 0)
        for handle in handles {
            do {
                bodyBytes += try await engine.value(of: handle)
            } catch is CancellationError {
                told += 1
            }
        }
        return (told, bodyBytes)
    }
}
