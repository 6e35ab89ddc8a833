import FoundationEssentials

/// The time to convert a list of URLs to a dataset in shards, compared with img2dataset for the same output, and with
/// the same images as single files.
enum Shards: Scenario {
    static let name = "shards"
    static let summary = "1600 x 1200 JPEGs to WebDataset shards of 256 pixels, with SHA-256"
    static let deadline = Duration.seconds(600)

    static let columns = [
        Column("images/s", .requestsPerSecond, decimals: 1),
        .spread("least-most", .requestsPerSecond, decimals: 0),
        Column("CPU ms", .cpuPerRequest, per: 1_000, decimals: 2),
        Column("MB", .peakMemory, per: 1e6),
        Column("of get", .ratioToFiles, decimals: 2),
        Column("CPU above", .cpuAboveFiles, per: 1_000, decimals: 2),
        Column("faster", .shardsTimesAsFast, decimals: 2),
    ]

    struct Case: ScenarioCase {
        let engine: String
        let images: Int

        var heading: String { "\(DecimalText.text(Double(images), decimals: 0)) images" }
    }

    static func cases(_ extent: Extent) -> [Case] {
        (extent == .full ? [2_000, 8_000] : [400]).flatMap { images in
            ShardsEngine.allCases.map { Case(engine: $0.rawValue, images: images) }
        }
    }

    static func withSite<Result: Sendable>(
        for cases: [Case], fixtures: FixtureFolder, _ body: (PictureSite) async throws -> Result
    ) async throws -> Result {
        try await PictureSite.with(name, fixtures: fixtures, body)
    }

    static func measure(_ subject: Case, at site: PictureSite) async throws -> Measurements {
        guard let engine = ShardsEngine(rawValue: subject.engine) else {
            throw Unable(engine: subject.engine, task: "write shards")
        }
        let folder = "\(site.scratch)/\(subject.engine)"
        File.remove(folder)
        defer { File.remove(folder) }
        let work = ShardsWork(urls: site.urls(subject.images), folder: folder)
        try work.prepare()
        let run = try engine.command(for: work).runForMemory(scratch: folder)
        try Mismatch.check("images", try work.successCount(), is: subject.images)
        var measurements = Measurements()
        measurements[.requestsPerSecond] = Double(subject.images) / run.usage.wall.seconds
        measurements[.cpuPerRequest] = run.usage.cpu.microseconds / Double(subject.images)
        measurements[.peakMemory] = run.peakMemory.map(Double.init)
        return measurements
    }

    /// Compares the case with `webimage get`, and the shards of `webimage batch` with those of the case.
    static func compare(_ subject: Case, in repetition: Repetition<Case>) -> Measurements {
        func result(_ engine: ShardsEngine) -> Measurements? {
            repetition.first { $0.engine == engine.rawValue && $0.images == subject.images }
        }
        guard let engine = ShardsEngine(rawValue: subject.engine) else { return Measurements() }
        var ratios = Measurements()
        let own = repetition[subject]
        if engine.isPeer {
            ratios[.shardsTimesAsFast] = result(.shardsByBox).ratio(of: .requestsPerSecond, to: own)
        } else {
            let files = result(.files)
            ratios[.ratioToFiles] = own.ratio(of: .requestsPerSecond, to: files)
            if let mine = own?[.cpuPerRequest], let theirs = files?[.cpuPerRequest] {
                ratios[.cpuAboveFiles] = mine - theirs
            }
        }
        return ratios
    }
}

extension Metric {
    static let ratioToFiles = Metric(rawValue: "ratio_to_get")
    /// The CPU time per image beyond that of `webimage get`.
    static let cpuAboveFiles = Metric(rawValue: "cpu_us_per_request_above_get")
    /// The images per second of `webimage batch` with the box filter, relative to those of this engine.
    static let shardsTimesAsFast = Metric(rawValue: "webimage_batch_times_as_fast")
}
