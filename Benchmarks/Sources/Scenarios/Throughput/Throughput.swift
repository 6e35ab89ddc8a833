import Engines

/// The number of bodies per second and the cost of each, without sharing or decoding.
enum Throughput: Scenario {
    static let name = "throughput"
    static let summary = "distinct URLs, bodies into memory, N callers one URL after the other"

    static let columns = [
        Column("req/s", .requestsPerSecond),
        .spread("least-most", .requestsPerSecond),
        Column("CPU µs", .cpuPerRequest),
        Column("p50 ms", .p50, decimals: 2),
        Column("p99 ms", .p99, decimals: 2),
        Column("MB", .peakMemory, per: 1e6),
        Column("of limit", .ratioToLimit, decimals: 2),
    ]

    struct Case: ScenarioCase {
        let engine: String
        let concurrency: Int
        let bodyBytes: Int
        let requests: Int

        var heading: String { "\(bodyBytes / 1_024) KiB, \(concurrency) at a time" }
    }

    static func cases(_ extent: Extent) -> [Case] {
        let sizes = [10, 200].map { $0 * 1_024 }
        let concurrencies = extent == .full ? [1, 6, 64, 512] : [6, 64, 512]
        return sizes.flatMap { bodyBytes in
            concurrencies.flatMap { concurrency in
                EngineName.allCases.map { engine in
                    let requests = engine.requests(ofBytes: bodyBytes, concurrency: concurrency)
                    return Case(
                        engine: engine.rawValue, concurrency: concurrency, bodyBytes: bodyBytes,
                        requests: extent == .full ? requests : requests / 2)
                }
            }
        }
    }

    static func withSite<Result: Sendable>(
        for cases: [Case], fixtures: FixtureFolder, _ body: (OriginSite) async throws -> Result
    ) async throws -> Result {
        try await OriginSite.serving(bodies: cases.map(\.bodyBytes), of: fixtures, body)
    }

    static func measure(_ subject: Case, at site: OriginSite) async throws -> Measurements {
        let engine = try EngineName(named: subject.engine)
        let prefix = site.origin.url(FixtureFolder.bodyName(bytes: subject.bodyBytes) + "?n=")
        let load = ClosedLoop(prefix: prefix, requests: subject.requests, concurrency: subject.concurrency)
        let run = try await load.run(on: engine)
        try Mismatch.check("bytes of bodies", run.bodyBytes, is: subject.requests * subject.bodyBytes)
        var measurements = Measurements()
        let latencies = Percentiles(nanoseconds: run.latencies)
        measurements[.requestsPerSecond] = Double(subject.requests) / run.usage.wall.seconds
        measurements[.cpuPerRequest] = run.usage.cpu.microseconds / Double(subject.requests)
        measurements[.p50] = latencies.milliseconds(50)
        measurements[.p99] = latencies.milliseconds(99)
        measurements[.peakMemory] = PeakMemory.bytes().map(Double.init)
        return measurements
    }

    /// Returns the results relative to the limit.
    static func compare(_ subject: Case, in repetition: Repetition<Case>) -> Measurements {
        var ratios = Measurements()
        func peer(_ engine: EngineName) -> Measurements? {
            repetition.first { $0.engine == engine.rawValue && $0.heading == subject.heading }
        }
        ratios[.ratioToLimit] = repetition[subject].ratio(of: .requestsPerSecond, to: peer(.curlMulti))
        ratios[.ratioToOperationQueue] = repetition[subject].ratio(of: .requestsPerSecond, to: peer(.operationQueue))
        ratios[.ratioToAsyncHTTPClient] = repetition[subject].ratio(of: .requestsPerSecond, to: peer(.asyncHTTPClient))
        ratios[.cpuRatioToAsyncHTTPClient] = repetition[subject].ratio(of: .cpuPerRequest, to: peer(.asyncHTTPClient))
        return ratios
    }
}

extension Metric {
    static let ratioToOperationQueue = Metric(rawValue: "ratio_to_operation_queue")
    static let ratioToAsyncHTTPClient = Metric(rawValue: "ratio_to_async_http_client")
    static let cpuRatioToAsyncHTTPClient = Metric(rawValue: "cpu_ratio_to_async_http_client")
}

extension EngineName {
    /// Returns the approximate number of requests per second, so that every case is measured for about one second.
    fileprivate func requests(ofBytes bytes: Int, concurrency: Int) -> Int {
        let (alone, together, large) =
            switch self {
            case .curlMulti: (8_000, 20_000, 2_500)
            case .actor, .asyncHTTPClient: (5_000, 15_000, 2_500)
            case .operationQueue, .urlsession: (1_000, 2_000, 800)
            }
        let small = concurrency == 1 ? alone : together
        return bytes > 100_000 ? min(small, large) : small
    }
}
