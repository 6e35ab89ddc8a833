import Engines

/// The cost of cancellation, and the resources left after nearly all callers cancel.
enum Cancel: Scenario {
    static let name = "cancel"
    static let summary = "10,000 callers of 1,000 slow URLs, all but one cancel within a second"

    static let columns = [
        Column("µs/cancel", .cancel, decimals: 2),
        Column("p99 µs", .cancelP99, decimals: 1),
        Column("CPU ms", .cpu),
        Column("told", .callersTold),
        Column("left", .transfersLeft),
        Column("sockets", .connectionsLeft),
        Column("files", .descriptorsLeft),
        Column("MB", .peakMemory, per: 1e6),
    ]

    struct Case: ScenarioCase {
        let engine: String
        let concurrency: Int
        let bodyBytes: Int
        let callers: Int
        let urls: Int

        var heading: String { "\(concurrency) transfers at a time" }
    }

    /// The rate at which 200 KiB take two seconds, longer than the second in which callers cancel.
    private static let bytesPerSecond = 100 * 1_024

    static func cases(_ extent: Extent) -> [Case] {
        (extent == .full ? [6, 64] : [64]).flatMap { concurrency in
            [EngineName.actor, .operationQueue].map { engine in
                Case(
                    engine: engine.rawValue, concurrency: concurrency, bodyBytes: 200 * 1_024, callers: 10_000,
                    urls: 1_000)
            }
        }
    }

    static func withSite<Result: Sendable>(
        for cases: [Case], fixtures: FixtureFolder, _ body: (OriginSite) async throws -> Result
    ) async throws -> Result {
        try await OriginSite.serving(bodies: cases.map(\.bodyBytes), of: fixtures, body)
    }

    static func measure(_ subject: Case, at site: OriginSite) async throws -> Measurements {
        guard let type = try EngineName(named: subject.engine).type as? any SharingEngine.Type else {
            throw Unable(engine: subject.engine, task: "share downloads")
        }
        let body = FixtureFolder.bodyName(bytes: subject.bodyBytes)
        try await warmUp(type, url: site.origin.url(body))
        let files = try OpenFiles.count()
        let callers = CancelingCallers(
            origin: site.origin, prefix: site.origin.url(body, bytesPerSecond: bytesPerSecond) + "?n=",
            urls: subject.urls, callers: subject.callers, window: .seconds(1))
        let (run, usage) = try await callers.run(on: type, concurrency: subject.concurrency)
        try Mismatch.check("bytes for the remaining caller", run.bodyBytes, is: subject.bodyBytes)
        var measurements = Measurements()
        measurements[.cancel] = run.cancels.meanMilliseconds.map { $0 * 1_000 }
        measurements[.cancelP99] = run.cancels.milliseconds(99).map { $0 * 1_000 }
        measurements[.cpu] = usage.cpu.milliseconds
        measurements[.callersTold] = Double(run.callersTold)
        measurements[.transfersLeft] = Double(run.transfersLeft)
        measurements[.peakMemory] = PeakMemory.bytes().map(Double.init)
        let left = try await Leftovers.settled(origin: site.origin, filesBefore: files)
        measurements[.connectionsLeft] = Double(left.connections)
        measurements[.descriptorsLeft] = Double(left.files)
        return measurements
    }

    /// Opens the resources that an engine opens once per process, which are not leaks.
    private static func warmUp(_ type: (some SharingEngine).Type, url: String) async throws {
        let engine = try type.init(concurrency: 1)
        _ = try await engine.fetch(url)
        try await engine.shutdown()
        // The engine may close its files a little later. Sleeping also opens the file that all timers share.
        try await Task.sleep(for: .milliseconds(100))
    }
}

extension Metric {
    static let cancel = Metric(rawValue: "cancel_us")
    static let cancelP99 = Metric(rawValue: "cancel_p99_us")
    static let callersTold = Metric(rawValue: "callers_told")
    static let transfersLeft = Metric(rawValue: "transfers_left")
    static let connectionsLeft = Metric(rawValue: "connections_left")
    static let descriptorsLeft = Metric(rawValue: "descriptors_left")
}
