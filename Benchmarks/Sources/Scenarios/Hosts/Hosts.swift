import Engines

/// Images from many hosts, where connections are opened more often than they are reused.
enum Hosts: Scenario {
    static let name = "hosts"
    static let summary = "JPEGs of 9 KB over TLS from many hosts, 64 at a time, without warm-up"
    static let deadline = Duration.seconds(240)
    static let columns = WebMeasurement.columns

    /// The order in which the images of all hosts are requested.
    enum Order: String, Codable, Sendable {
        /// One image from each host.
        case once
        /// All hosts in turn, several times.
        case inTurn = "in-turn"
        /// The same images in random order, which is the same for all engines.
        case random

        fileprivate var visits: Int { self == .once ? 1 : Hosts.visits }

        fileprivate var words: String { self == .inTurn ? "in turn" : rawValue }
    }

    struct Case: ScenarioCase {
        let engine: String
        let hosts: Int
        let order: Order
        let web: WebProtocol
        let concurrency: Int

        var heading: String {
            "\(hosts) \(order.words), \(web.words)"
        }

        /// The numbers of the hosts that are visited one after the other.
        var route: [Int] {
            let route = (0..<order.visits).flatMap { _ in 0..<hosts }
            guard order == .random else { return route }
            var generator = SplitMix64(seed: UInt64(hosts))
            return route.shuffled(using: &generator)
        }
    }

    struct Site: Codable, Sendable {
        let origin: TLSOrigin
        let file: String
        let bodyBytes: Int
    }

    private static let visits = 5

    static func cases(_ extent: Extent) -> [Case] {
        let orders: [Order] = extent == .full ? [.once, .inTurn, .random] : [.once]
        return [WebProtocol.http1, .http2].flatMap { web in
            orders.flatMap { order in
                WebEngine.supporting(web).filter { isMeasured($0, order) }.map {
                    Case(
                        engine: $0.rawValue, hosts: extent == .full ? 400 : 100, order: order, web: web,
                        concurrency: 64)
                }
            }
        }
    }

    /// Returns a Boolean value that indicates whether an engine takes seconds rather than minutes: with its defaults,
    /// curl parses the system's authorities for each of the 2,000 connections.
    private static func isMeasured(_ engine: WebEngine, _ order: Order) -> Bool {
        engine != .curl || order == .once
    }

    static func withSite<Result: Sendable>(
        for cases: [Case], fixtures: FixtureFolder, _ body: (Site) async throws -> Result
    ) async throws -> Result {
        let picture = try fixtures.jpeg(width: 240, height: 160)
        let bytes = try File.read(picture.path).count
        return try await TLSOrigin.serving(fixtures, hosts: cases.map(\.hosts).max() ?? 1, logs: true) {
            try await body(Site(origin: $0, file: picture.name, bodyBytes: bytes))
        }
    }

    static func measure(_ subject: Case, at site: Site) async throws -> Measurements {
        guard let engine = WebEngine(rawValue: subject.engine) else {
            throw Unable(engine: subject.engine, task: "download from many hosts")
        }
        let urls = subject.route.enumerated().map { number, host in
            site.origin.url("\(site.file)?n=\(number)", host: host, over: subject.web)
        }
        let load = WebLoad(
            urls: urls, web: subject.web, origin: site.origin,
            limits: EngineLimits(total: subject.concurrency, perHost: subject.concurrency),
            callers: subject.concurrency, loopConcurrency: subject.concurrency)
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
