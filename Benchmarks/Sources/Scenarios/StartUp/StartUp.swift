import ImageCodecs

/// The cost of starting a command, measured with one file that takes almost no time to process.
enum StartUp: Scenario {
    static let name = "start-up"
    static let summary = "one tiny JPEG; webimage reads its header, the others its pixels"

    static let columns = [
        Column("ms", .wall, decimals: 1),
        .spread("least-most", .wall, decimals: 1),
        Column("CPU ms", .cpu, decimals: 1),
        Column("MB", .peakMemory, per: 1e6, decimals: 1),
        Column("of limit", .ratioToLimit, decimals: 1),
        Column("executable MB", .executableSize, per: 1e6, decimals: 1),
    ]

    enum Engine: String, CaseIterable {
        case webimage, thumbnail
        /// The command of libjpeg.
        case djpeg
        case vipsthumbnail
    }

    struct Case: ScenarioCase {
        let engine: String

        var heading: String { "one small file" }
    }

    struct Site: Codable {
        let picture: String
        let scratch: String
    }

    static func cases(_ extent: Extent) -> [Case] { Engine.allCases.map { Case(engine: $0.rawValue) } }

    static func withSite<Result: Sendable>(
        for cases: [Case], fixtures: FixtureFolder, _ body: (Site) async throws -> Result
    ) async throws -> Result {
        let picture = try fixtures.jpeg(width: 64, height: 48).path
        return try await TemporaryFolder.with(name) { try await body(Site(picture: picture, scratch: $0)) }
    }

    /// Measures the medians of twenty starts, after one that loads the files into memory.
    static func measure(_ subject: Case, at site: Site) async throws -> Measurements {
        guard let engine = Engine(rawValue: subject.engine) else {
            throw Unable(engine: subject.engine, task: "start")
        }
        let command = try command(of: engine, at: site)
        var measurements = Measurements()
        measurements[.peakMemory] = try command.runForMemory(scratch: site.scratch).peakMemory.map(Double.init)
        let runs = try (0..<20).map { _ in try command.run() }
        measurements[.wall] = Summary(runs.map(\.wall.milliseconds))?.median
        measurements[.cpu] = Summary(runs.map(\.cpu.milliseconds))?.median
        measurements[.executableSize] = Double(try File.read(command.tool.path).count)
        return measurements
    }

    static func compare(_ subject: Case, in repetition: Repetition<Case>) -> Measurements {
        var ratios = Measurements()
        ratios[.ratioToLimit] = repetition[subject].ratio(
            of: .wall, to: repetition.first { $0.engine == Engine.djpeg.rawValue })
        return ratios
    }

    private static func command(of engine: Engine, at site: Site) throws -> Command {
        let output = "\(site.scratch)/small.jpg"
        return switch engine {
        case .webimage: Command(try .webimage(), ["info", site.picture])
        case .thumbnail: Command(try .thumbnail(), [site.picture, output, "--max-pixel-size", "32"])
        case .djpeg: Command(try Tool("djpeg"), ["-outfile", "/dev/null", site.picture])
        case .vipsthumbnail: Command(try Tool("vipsthumbnail"), [site.picture, "--size", "32", "-o", output])
        }
    }
}

extension Metric {
    /// The size of the executable, without its shared libraries.
    static let executableSize = Metric(rawValue: "executable_bytes")
}
