import Engines

/// The number of bodies per second and the cost of each, without sharing or decoding.
enum Throughput: Scenario {
    static let name = "throughput"
    static let summary = "distinct URLs, bodies into memory, N callers one URL after the other"

    static let columns = [
        Column("req/s", .requestsPerSecond),
        .spread("least-most", .requestsPerSecond),
        Column("CPU µs", .cpuPerRequest),
        Column("p99 ms", .p99, decimals: 2),
        Column("MB", .peakMemory, per: 1e6),
        Column("of limit", .ratioToLimit, decimals: 2),
        Column("CPU", .cpuRatioToLoop, decimals: 2),
    ]

    struct Case: ScenarioCase {
        let engine: String
        let concurrency: Int
        let bodyBytes: Int
        let requests: Int
        let web: WebProtocol

        var heading: String {
            let load = "\(bodyBytes / 1_024) KiB, \(concurrency) at a time"
            switch web {
            case .plain: return load
            case .http1: return load + ", h1"
            case .http2: return load + ", h2"
            }
        }
    }

    /// An origin, and one with TLS unless the tools for it are missing.
    struct Site: Codable, Sendable {
        let origin: OriginSite
        let tls: TLSOrigin?

        /// Returns the prefix of the URLs of a case.
        func prefix(of subject: Case) throws -> String {
            let name = FixtureFolder.bodyName(bytes: subject.bodyBytes) + "?n="
            if subject.web == .plain { return origin.origin.url(name) }
            guard let tls else { throw NotInstalled(description: "nginx or openssl is not installed") }
            return tls.url(name, over: subject.web)
        }
    }

    static func cases(_ extent: Extent) -> [Case] {
        WebProtocol.allCases.flatMap { web in
            [10, 200].flatMap { kibibytes in
                concurrencies(extent, web).flatMap { concurrency in
                    engines(web, kibibytes: kibibytes).map { engine in
                        let requests = engine.requests(ofBytes: kibibytes * 1_024, concurrency: concurrency)
                        return Case(
                            engine: engine.rawValue, concurrency: concurrency, bodyBytes: kibibytes * 1_024,
                            requests: extent == .full ? requests : requests / 2, web: web)
                    }
                }
            }
        }
    }

    private static func concurrencies(_ extent: Extent, _ web: WebProtocol) -> [Int] {
        if extent == .full { return [1, 6, 64, 512] }
        return web == .plain ? [6, 64, 512] : [64]
    }

    /// Returns the engines to compare: with TLS, only those that can be told whom to trust; and the loop that frees its
    /// bodies only where that matters.
    private static func engines(_ web: WebProtocol, kibibytes: Int) -> [EngineName] {
        EngineName.allCases.filter { engine in
            switch engine {
            case .actor, .asyncHTTPClient, .curlMulti: true
            case .curlMultiFreeing: kibibytes > 100
            case .operationQueue, .urlsession: web == .plain
            }
        }
    }

    static func withSite<Result: Sendable>(
        for cases: [Case], fixtures: FixtureFolder, _ body: (Site) async throws -> Result
    ) async throws -> Result {
        try await OriginSite.serving(bodies: cases.map(\.bodyBytes), of: fixtures) { origin in
            guard cases.contains(where: { $0.web != .plain }), NginxOrigin.executable() != nil,
                Tool.installed("openssl") != nil
            else { return try await body(Site(origin: origin, tls: nil)) }
            return try await TLSOrigin.serving(fixtures, hosts: 1, logs: false) {
                try await body(Site(origin: origin, tls: $0))
            }
        }
    }

    static func measure(_ subject: Case, at site: Site) async throws -> Measurements {
        let engine = try EngineName(named: subject.engine)
        let load = ClosedLoop(
            prefix: try site.prefix(of: subject), requests: subject.requests, concurrency: subject.concurrency,
            authorities: subject.web == .plain ? nil : site.tls?.authorities, isHTTP2: subject.web == .http2)
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
        ratios[.cpuRatioToLoop] = repetition[subject].ratio(of: .cpuPerRequest, to: peer(.curlMulti))
        ratios[.ratioToOperationQueue] = repetition[subject].ratio(of: .requestsPerSecond, to: peer(.operationQueue))
        ratios[.ratioToAsyncHTTPClient] = repetition[subject].ratio(of: .requestsPerSecond, to: peer(.asyncHTTPClient))
        ratios[.cpuRatioToAsyncHTTPClient] = repetition[subject].ratio(of: .cpuPerRequest, to: peer(.asyncHTTPClient))
        return ratios
    }
}

extension Metric {
    static let cpuRatioToLoop = Metric(rawValue: "cpu_ratio_to_curl_multi")
    static let ratioToOperationQueue = Metric(rawValue: "ratio_to_operation_queue")
    static let ratioToAsyncHTTPClient = Metric(rawValue: "ratio_to_async_http_client")
    static let cpuRatioToAsyncHTTPClient = Metric(rawValue: "cpu_ratio_to_async_http_client")
}

extension EngineName {
    /// Returns the approximate number of requests per second, so that every case is measured for about one second.
    fileprivate func requests(ofBytes bytes: Int, concurrency: Int) -> Int {
        let (alone, together, large) =
            switch self {
            case .curlMulti, .curlMultiFreeing: (8_000, 20_000, 2_500)
            case .actor, .asyncHTTPClient: (5_000, 15_000, 2_500)
            case .operationQueue, .urlsession: (1_000, 2_000, 800)
            }
        let small = concurrency == 1 ? alone : together
        return bytes > 100_000 ? min(small, large) : small
    }
}
