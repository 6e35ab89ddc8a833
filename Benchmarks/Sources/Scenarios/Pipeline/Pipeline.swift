import FoundationEssentials

/// The time to convert a list of URLs to a folder of thumbnails.
///
/// The time includes startup: img2dataset takes two or three seconds to import its modules, which matters more for
/// fewer images.
enum Pipeline: Scenario {
    static let name = "pipeline"
    static let summary = "JPEGs of 1600 x 1200 from the origin to 256 pixels on disk"
    static let deadline = Duration.seconds(240)

    static let columns = [
        Column("images/s", .requestsPerSecond, decimals: 1),
        .spread("least-most", .requestsPerSecond, decimals: 0),
        Column("a core", .perCore, decimals: 1),
        Column("CPU ms", .cpuPerRequest, per: 1_000, decimals: 2),
        Column("MB", .peakMemory, per: 1e6),
        Column("faster", .timesAsFast, decimals: 2),
    ]

    struct Case: ScenarioCase {
        let engine: String
        let images: Int
        /// The maximum number of concurrent downloads.
        let concurrency: Int

        var heading: String { "\(DecimalText.text(Double(images), decimals: 0)) images" }
    }

    private static let processes = 2

    static func cases(_ extent: Extent) -> [Case] {
        PipelineEngine.allCases.map {
            Case(engine: $0.rawValue, images: extent == .full ? 2_000 : 400, concurrency: 64)
        }
    }

    static func withSite<Result: Sendable>(
        for cases: [Case], fixtures: FixtureFolder, _ body: (PictureSite) async throws -> Result
    ) async throws -> Result {
        try await PictureSite.with(name, fixtures: fixtures, body)
    }

    static func measure(_ subject: Case, at site: PictureSite) async throws -> Measurements {
        guard let engine = PipelineEngine(rawValue: subject.engine) else {
            throw Unable(engine: subject.engine, task: "make thumbnails")
        }
        let folder = "\(site.scratch)/\(subject.engine)"
        File.remove(folder)
        defer { File.remove(folder) }
        let batch = PipelineBatch(
            urls: site.urls(subject.images), paths: site.paths(subject.images), folder: folder,
            concurrency: subject.concurrency, processes: processes)
        try batch.prepare()
        let runs = try engine.commands(for: batch).map { try $0.runForMemory(scratch: folder) }
        try Mismatch.check("thumbnails", try batch.resultCount(), is: subject.images)
        let (wall, cpu) = runs.reduce((Duration.zero, Duration.zero)) { ($0.0 + $1.usage.wall, $0.1 + $1.usage.cpu) }
        var measurements = Measurements()
        measurements[.requestsPerSecond] = Double(subject.images) / wall.seconds
        measurements[.perCore] =
            Double(subject.images) / wall.seconds / Double(ProcessInfo.processInfo.activeProcessorCount)
        measurements[.cpuPerRequest] = cpu.microseconds / Double(subject.images)
        measurements[.peakMemory] = runs.compactMap(\.peakMemory).max().map(Double.init)
        return measurements
    }

    /// Returns the speed of webimage relative to the case.
    static func compare(_ subject: Case, in repetition: Repetition<Case>) -> Measurements {
        var ratios = Measurements()
        let webimage = repetition.first { $0.engine == PipelineEngine.webimage.rawValue && $0.images == subject.images }
        ratios[.timesAsFast] = webimage.ratio(of: .requestsPerSecond, to: repetition[subject])
        return ratios
    }
}

extension Metric {
    static let perCore = Metric(rawValue: "images_per_second_per_core")
    /// The images per second of webimage, relative to those of this engine.
    static let timesAsFast = Metric(rawValue: "webimage_times_as_fast")
}
