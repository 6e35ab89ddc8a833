import AsyncWebImage

/// The cost of encoded files for many callers and after a restart, and of headers with a response cache.
enum Files: Scenario {
    static let name = "file"
    static let summary = "file(for:as:) and info(for:) with a response cache in a folder"

    static let columns = [
        Column("CPU µs", .cpuPerRequest),
        Column("of one", .cpuToBasis, decimals: 2),
        Column("caller µs", .cpuPerCaller, decimals: 1),
        Column("first ms", .firstHit, decimals: 2),
        .spread("least-most", .firstHit, decimals: 2),
        Column("KB stored", .storedPerURL, per: 1e3, decimals: 1),
    ]

    static var deadline: Duration { .seconds(300) }

    /// The kind of work to measure.
    enum Work: String, Codable, CaseIterable, Sendable {
        /// A new thumbnail for one caller.
        case oneCaller = "one-caller"
        /// A new thumbnail for a hundred callers at a time.
        case hundredCallers = "hundred-callers"
        /// The first thumbnail of a loader that opens a cache in which it is stored.
        case firstHit = "first-hit"
        /// The header of a new image, without a cache.
        case info
        /// The header of a new image, with an empty cache.
        case cachedInfo = "info-with-cache"

        /// The work to compare with.
        var basis: Work? {
            switch self {
            case .hundredCallers: .oneCaller
            case .cachedInfo: .info
            case .oneCaller, .firstHit, .info: nil
            }
        }

        var callers: Int { self == .hundredCallers ? 100 : 1 }
    }

    struct Case: ScenarioCase {
        let engine: String
        let work: Work
        let requests: Int

        /// The pictures have 1600 x 1200 pixels and 500 KB; 16 headers are read at a time.
        var heading: String {
            switch work {
            case .oneCaller, .hundredCallers: "new thumbnails"
            case .firstHit: "after a restart"
            case .info, .cachedInfo: "headers"
            }
        }
    }

    /// The origin, a folder for the caches, and the name of a JPEG.
    struct Site: Codable, Sendable {
        let origin: Origin
        let folder: String
        let picture: String
    }

    static let maximumSide = 256

    static func cases(_ extent: Extent) -> [Case] {
        Work.allCases.map { work in
            let isInfo = work == .info || work == .cachedInfo
            let requests = isInfo ? 895 : (extent == .full ? 200 : 50)
            return Case(engine: work.rawValue, work: work, requests: requests)
        }
    }

    static func withSite<Result: Sendable>(
        for cases: [Case], fixtures: FixtureFolder, _ body: (Site) async throws -> Result
    ) async throws -> Result {
        guard let nginx = NginxOrigin.executable() else { throw NotInstalled(description: "nginx is not installed") }
        let picture = try fixtures.jpeg(width: 1_600, height: 1_200)
        return try await NginxOrigin.serving(fixtures, nginx: nginx) { origin in
            try await TemporaryFolder.with(name) { folder in
                let site = Site(origin: origin, folder: folder, picture: picture.name)
                if let stored = cases.first(where: { $0.work == .firstHit }) { try await site.store(stored.requests) }
                return try await body(site)
            }
        }
    }

    static func measure(_ subject: Case, at site: Site) async throws -> Measurements {
        switch subject.work {
        case .oneCaller, .hundredCallers: try await site.newThumbnails(subject)
        case .firstHit: try await site.firstHit(subject)
        case .info, .cachedInfo: try await site.headers(subject)
        }
    }

    static func compare(_ subject: Case, in repetition: Repetition<Case>) -> Measurements {
        var ratios = Measurements()
        guard let basis = repetition.first(where: { $0.work == subject.work.basis }) else { return ratios }
        let mine = repetition[subject]
        ratios[.cpuToBasis] = mine.ratio(of: .cpuPerRequest, to: basis)
        if subject.work.callers > 1, let all = mine?[.cpuPerRequest], let one = basis[.cpuPerRequest] {
            ratios[.cpuPerCaller] = (all - one) / Double(subject.work.callers - 1)
        }
        return ratios
    }
}

extension Metric {
    static let cpuToBasis = Metric(rawValue: "cpu_to_basis")
    static let storedPerURL = Metric(rawValue: "stored_bytes_per_url")
}
