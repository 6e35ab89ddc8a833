import Engines

/// Images from far away, where round trips and slow start take most of the time.
enum Distance: Scenario {
    static let name = "distance"
    static let summary = "200 JPEGs over TLS, a delaying proxy, 1 Gbit/s, default limits"
    static let deadline = Duration.seconds(120)
    static let columns = WebMeasurement.columns

    struct Case: ScenarioCase {
        let engine: String
        /// The engine without its limits.
        let implementation: String
        let limits: EngineLimits?
        /// The time for a round trip, in milliseconds.
        let roundTrip: Int
        let hosts: Int
        let images: Int
        let web: WebProtocol

        var heading: String {
            "\(roundTrip) ms, \(hosts) \(hosts == 1 ? "host" : "hosts"), \(web.words)"
        }
    }

    struct Site: Codable, Sendable {
        /// The origin as seen through the proxy for each round-trip time.
        let origins: [Int: TLSOrigin]
        let file: String
        let bodyBytes: Int
    }

    /// The number of transfers of the loop in C, which has no default.
    private static let loopConcurrency = 64

    static func cases(_ extent: Extent) -> [Case] { cases(extent, Choices()) }

    static func cases(_ extent: Extent, _ choices: Choices) -> [Case] {
        let roundTrips = choices.roundTrips.isEmpty ? (extent == .full ? [20, 50] : [50]) : choices.roundTrips
        return roundTrips.flatMap { roundTrip in
            (extent == .full ? [1, 20] : [20]).flatMap { hosts in
                [WebProtocol.http1, .http2].flatMap { web in
                    engines(web, choices.limits).map { engine, limits in
                        Case(
                            engine: engine.rawValue + (limits.map { " \($0.words)" } ?? ""),
                            implementation: engine.rawValue, limits: limits, roundTrip: roundTrip, hosts: hosts,
                            images: 200, web: web)
                    }
                }
            }
        }
    }

    /// Returns the engines, and this package a second time with each of the limits.
    private static func engines(_ web: WebProtocol, _ limits: [EngineLimits]) -> [(WebEngine, EngineLimits?)] {
        WebEngine.supporting(web).flatMap { engine in
            [(engine, nil)] + (engine == .actor ? limits.map { (engine, $0) } : [])
        }
    }

    static func withSite<Result: Sendable>(
        for cases: [Case], fixtures: FixtureFolder, _ body: (Site) async throws -> Result
    ) async throws -> Result {
        let picture = try fixtures.jpeg(width: 1_296, height: 864)
        let bytes = try File.read(picture.path).count
        let hosts = cases.map(\.hosts).max() ?? 1
        return try await TLSOrigin.serving(fixtures, hosts: hosts, logs: true) { origin in
            let times = Set(cases.map(\.roundTrip)).sorted()
            return try await DelayingProxyProcess.delaying(origin, roundTrips: times) {
                try await body(Site(origins: $0, file: picture.name, bodyBytes: bytes))
            }
        }
    }

    static func measure(_ subject: Case, at site: Site) async throws -> Measurements {
        guard let engine = WebEngine(rawValue: subject.implementation), let origin = site.origins[subject.roundTrip]
        else { throw Unable(engine: subject.engine, task: "download from far away") }
        let urls = (0..<subject.images).map {
            origin.url("\(site.file)?n=\($0)", host: $0 % subject.hosts, over: subject.web)
        }
        let load = WebLoad(
            urls: urls, web: subject.web, origin: origin, limits: subject.limits, callers: subject.images,
            loopConcurrency: loopConcurrency)
        return try await WebMeasurement.measure(load, on: engine, bodyBytes: site.bodyBytes)
    }

    /// Returns the results relative to those of the loop in C.
    static func compare(_ subject: Case, in repetition: Repetition<Case>) -> Measurements {
        let limit = repetition.first {
            $0.engine == WebEngine.curlMulti.rawValue && $0.heading == subject.heading
        }
        return WebMeasurement.ratios(of: repetition[subject], to: limit)
    }
}
