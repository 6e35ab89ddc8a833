import Engines

/// The cost of many callers for the same few URLs.
enum Storm: Scenario {
    static let name = "storm"
    static let summary = "callers for 100 URLs of 10 KiB at once; every body takes 0.8 s to arrive"

    static let columns = [
        Column("requests", .requestsSent),
        Column("ms to all", .wall, decimals: 1),
        .spread("least-most", .wall, decimals: 1),
        Column("CPU ms", .cpu, decimals: 1),
        Column("µs/caller", .cpuPerCaller, decimals: 2),
        Column("MB", .peakMemory, per: 1e6),
    ]

    struct Case: ScenarioCase {
        let engine: String
        let concurrency: Int
        let bodyBytes: Int
        let callers: Int

        var heading: String { "\(DecimalText.text(Double(callers), decimals: 0)) callers" }
    }

    private static let urls = 100
    private static let manyCallers = 10_000
    /// A rate so low that all callers have joined before the first body is complete.
    private static let bytesPerSecond = 10 * 1_024

    static func cases(_ extent: Extent) -> [Case] {
        let engines: [(EngineName, Int)] = [
            (.actor, urls), (.operationQueue, urls), (.curlMulti, urls),
            (.actor, manyCallers), (.operationQueue, manyCallers),
        ]
        return engines.map { engine, callers in
            Case(engine: engine.rawValue, concurrency: urls, bodyBytes: 10 * 1_024, callers: callers)
        }
    }

    static func withSite<Result: Sendable>(
        for cases: [Case], fixtures: FixtureFolder, _ body: (OriginSite) async throws -> Result
    ) async throws -> Result {
        try await OriginSite.serving(bodies: cases.map(\.bodyBytes), of: fixtures, body)
    }

    static func measure(_ subject: Case, at site: OriginSite) async throws -> Measurements {
        let body = FixtureFolder.bodyName(bytes: subject.bodyBytes)
        let rush = Rush(
            warmUpPrefix: site.origin.url(body + "?warm="),
            prefix: site.origin.url(body, bytesPerSecond: bytesPerSecond) + "?n=", urls: urls,
            callers: subject.callers)
        let requestsBefore = try site.origin.status().requests
        let run = try await rush.run(on: try EngineName(named: subject.engine))
        // The second status includes its own request.
        let requests = try site.origin.status().requests - requestsBefore - 1
        try Mismatch.check("bytes of bodies", run.bodyBytes, is: subject.callers * subject.bodyBytes)
        var measurements = Measurements()
        measurements[.requestsSent] = Double(requests - run.warmUpRequests)
        measurements[.wall] = run.usage.wall.milliseconds
        measurements[.cpu] = run.usage.cpu.milliseconds
        measurements[.peakMemory] = PeakMemory.bytes().map(Double.init)
        return measurements
    }

    /// Returns the cost of each caller beyond one per URL, which only shares a download.
    static func compare(_ subject: Case, in repetition: Repetition<Case>) -> Measurements {
        var differences = Measurements()
        guard subject.callers > urls,
            let many = repetition[subject],
            let few = repetition.first(where: { $0.engine == subject.engine && $0.callers == urls })
        else { return differences }
        let additional = Double(subject.callers - urls)
        if let cpu = many[.cpu], let base = few[.cpu] {
            differences[.cpuPerCaller] = (cpu - base) * 1_000 / additional
        }
        if let memory = many[.peakMemory], let base = few[.peakMemory] {
            differences[.memoryPerCaller] = (memory - base) / additional
        }
        return differences
    }
}

extension Metric {
    static let requestsSent = Metric(rawValue: "requests_sent")
    static let wall = Metric(rawValue: "wall_ms")
    static let cpu = Metric(rawValue: "cpu_ms")
    static let cpuPerCaller = Metric(rawValue: "cpu_us_per_additional_caller")
    static let memoryPerCaller = Metric(rawValue: "bytes_per_additional_caller")
}
