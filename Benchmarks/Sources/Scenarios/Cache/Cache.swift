import AsyncWebImage

/// The cost and the benefit of a response cache in a folder, relative to the same downloads without one.
enum Cache: Scenario {
    static let name = "cache"
    static let summary = "a response cache in a folder, next to downloads without one"

    static let columns = [
        Column("req/s", .requestsPerSecond),
        Column("CPU µs", .cpuPerRequest),
        Column("p99 ms", .p99, decimals: 2),
        Column("MB", .peakMemory, per: 1e6),
        Column("rate", .rateToDownload, decimals: 2),
        Column("CPU", .cpuToDownload, decimals: 2),
        Column("kept", .stored),
        Column("size", .sizeToLimit, decimals: 3),
        Column("first", .firstHit, decimals: 2),
    ]

    static var deadline: Duration { .seconds(300) }

    /// The kind of work to measure.
    enum Work: String, Codable, CaseIterable, Sendable {
        /// Downloads without a cache, the basis of comparison.
        case download
        /// Downloads that are stored.
        case fill
        /// Stored responses that are fresh.
        case hit
        /// Stored files of 128 pixels made of JPEGs.
        case fileHit = "file-hit"
        /// Stored responses that the origin confirms to be current.
        case revalidate
        /// Fresh responses of 20 KiB while others of 31 MB are loaded.
        case besideLarge = "beside-large"
        /// Bodies of 8 and 30 MB from a fast origin, of which all should be stored.
        case largeBodies = "large-bodies"
        /// The first response of a cache with many entries that has just been opened.
        case firstHit = "first-hit"
        /// The size of a full folder after many short uses.
        case shortRuns = "short-runs"
    }

    struct Case: ScenarioCase {
        let engine: String
        let work: Work
        let concurrency: Int
        let requests: Int

        var heading: String { "20 KiB, \(concurrency) at a time" }
    }

    /// The origin, and a folder for the caches.
    struct Site: Codable, Sendable {
        let origin: Origin
        let folder: String
        /// The name of a JPEG.
        let picture: String
    }

    static let bodyBytes = 20 << 10
    static let largeBytes = 31_000_000
    static let storedBytes = [8_000_000, 30_000_000]
    static let tinyBytes = 1 << 10
    static let pictureSize = (width: 480, height: 320)

    static func cases(_ extent: Extent) -> [Case] {
        let requests = extent == .full ? 10_000 : 4_000
        func `case`(_ work: Work, _ concurrency: Int, _ requests: Int) -> Case {
            Case(engine: work.rawValue, work: work, concurrency: concurrency, requests: requests)
        }
        let rates = [16, 1].flatMap { concurrency in
            [Work.download, .fill, .hit, .revalidate].map { `case`($0, concurrency, requests) }
        }
        return rates + [
            `case`(.fileHit, 16, requests / 5), `case`(.fileHit, 1, requests / 5),
            `case`(.besideLarge, 8, requests / 2), `case`(.largeBodies, 1, 10),
            `case`(.firstHit, 1, extent == .full ? 100_000 : 20_000), `case`(.shortRuns, 4, 60),
        ]
    }

    static func withSite<Result: Sendable>(
        for cases: [Case], fixtures: FixtureFolder, _ body: (Site) async throws -> Result
    ) async throws -> Result {
        // Only nginx sends responses with an expiration time.
        guard let nginx = NginxOrigin.executable() else { throw NotInstalled(description: "nginx is not installed") }
        for bytes in [bodyBytes, largeBytes, tinyBytes] + storedBytes { _ = try fixtures.body(bytes: bytes) }
        return try await NginxOrigin.serving(fixtures, nginx: nginx) { origin in
            try await TemporaryFolder.with("cache") { folder in
                let picture = try fixtures.jpeg(width: pictureSize.width, height: pictureSize.height)
                let site = Site(origin: origin, folder: folder, picture: picture.name)
                if let most = cases.filter({ $0.work == .firstHit }).map(\.requests).max() {
                    try await site.prepare(entries: most)
                }
                return try await body(site)
            }
        }
    }

    static func measure(_ subject: Case, at site: Site) async throws -> Measurements {
        switch subject.work {
        case .download, .fill, .hit, .revalidate: try await site.rate(subject)
        case .fileHit: try await site.fileHit(subject)
        case .besideLarge: try await site.besideLarge(subject)
        case .largeBodies: try await site.largeBodies(subject)
        case .firstHit: try await site.firstHit(subject)
        case .shortRuns: try await site.shortRuns(subject)
        }
    }

    /// Returns the rate and the CPU time, relative to those of downloads without a cache.
    static func compare(_ subject: Case, in repetition: Repetition<Case>) -> Measurements {
        var ratios = Measurements()
        let download = repetition.first { $0.work == .download && $0.heading == subject.heading }
        ratios[.rateToDownload] = repetition[subject].ratio(of: .requestsPerSecond, to: download)
        ratios[.cpuToDownload] = repetition[subject].ratio(of: .cpuPerRequest, to: download)
        return ratios
    }
}

extension Metric {
    static let rateToDownload = Metric(rawValue: "rate_to_download")
    static let cpuToDownload = Metric(rawValue: "cpu_to_download")
    /// The number of large bodies that were stored.
    static let stored = Metric(rawValue: "bodies_stored")
    /// The size of the folder, relative to its limit.
    static let sizeToLimit = Metric(rawValue: "size_to_limit")
    /// The time from opening a cache to its first response.
    static let firstHit = Metric(rawValue: "first_hit_ms")
}
