import Engines

/// The time that small images wait for large ones requested before them.
enum Mixed: Scenario {
    static let name = "mixed"
    static let summary = "500 small JPEGs to 128 pixels, requested at the same time"

    static let columns = [
        Column("p50 ms", .p50, decimals: 1),
        Column("p99 ms", .p99, decimals: 1),
        .spread("least-most", .p99, decimals: 1),
        Column("p99 ratio", .p99Ratio, decimals: 2),
        Column("large ms", .large),
        Column("MB", .peakMemory, per: 1e6),
    ]

    struct Case: ScenarioCase {
        let engine: String
        let concurrency: Int
        /// The number of images of 100 megapixels, scaled to 1024 pixels, that are requested first.
        let largeImages: Int

        var heading: String { largeImages == 0 ? "alone" : "behind \(largeImages) of 100 MP" }
    }

    struct Site: Codable, Sendable {
        let origin: Origin
        let small: String
        let large: String
    }

    private static let smallImages = 500

    static func cases(_ extent: Extent) -> [Case] {
        [0, 3].flatMap { largeImages in
            [EngineName.actor, .operationQueue].map {
                Case(engine: $0.rawValue, concurrency: 6, largeImages: largeImages)
            }
        }
    }

    static func withSite<Result: Sendable>(
        for cases: [Case], fixtures: FixtureFolder, _ body: (Site) async throws -> Result
    ) async throws -> Result {
        let small = try fixtures.jpeg(width: 352, height: 264).name
        let large = try fixtures.jpeg(width: 12_000, height: 8_334).name
        return try await Origin.serving(fixtures) { try await body(Site(origin: $0, small: small, large: large)) }
    }

    static func measure(_ subject: Case, at site: Site) async throws -> Measurements {
        guard let type = try EngineName(named: subject.engine).type as? any ImageEngine.Type else {
            throw Unable(engine: subject.engine, task: "make images")
        }
        return try await measure(subject, at: site, with: try type.init(concurrency: subject.concurrency))
    }

    private static func measure(
        _ subject: Case, at site: Site, with engine: some ImageEngine
    ) async throws -> Measurements {
        for number in 0..<20 {
            _ = try await engine.image(site.origin.url("\(site.small)?warm=\(number)"), maximumSide: 128)
        }
        let (small, large) = try await loadAll(largeImages: subject.largeImages, at: site, with: engine)
        let latencies = Percentiles(nanoseconds: small.map(\.nanoseconds))
        var measurements = Measurements()
        measurements[.p50] = latencies.milliseconds(50)
        measurements[.p99] = latencies.milliseconds(99)
        measurements[.large] = large.max()?.milliseconds
        measurements[.peakMemory] = PeakMemory.bytes().map(Double.init)
        try await engine.shutdown()
        return measurements
    }

    /// Returns the completion time of each image, relative to the first call.
    private static func loadAll(
        largeImages: Int, at site: Site, with engine: some ImageEngine
    ) async throws -> (small: [Duration], large: [Duration]) {
        let started = ContinuousClock.now
        return try await withThrowingTaskGroup(of: (isLarge: Bool, time: Duration).self) { group in
            for number in 0..<largeImages + smallImages {
                let isLarge = number < largeImages
                let url = site.origin.url("\(isLarge ? site.large : site.small)?n=\(number)")
                group.addTask {
                    _ = try await engine.image(url, maximumSide: isLarge ? 1_024 : 128)
                    return (isLarge, .now - started)
                }
            }
            var (small, large): ([Duration], [Duration]) = ([], [])
            for try await (isLarge, time) in group {
                if isLarge { large.append(time) } else { small.append(time) }
            }
            return (small, large)
        }
    }

    static func compare(_ subject: Case, in repetition: Repetition<Case>) -> Measurements {
        var ratios = Measurements()
        let alone = repetition.first { $0.engine == subject.engine && $0.largeImages == 0 }
        if subject.largeImages > 0 { ratios[.p99Ratio] = repetition[subject].ratio(of: .p99, to: alone) }
        return ratios
    }
}

extension Metric {
    static let p99Ratio = Metric(rawValue: "p99_ratio_to_alone")
    /// The time until the last of the large images was complete.
    static let large = Metric(rawValue: "large_ms")
}
