import ImageCodecs

/// The cost of shrinking a large image, compared to its codec alone and to libvips.
enum Decode: Scenario {
    static let name = "decode"
    static let summary = "files to thumbnails, JPEG again; the codec's command writes to /dev/null"
    static let deadline = Duration.seconds(120)

    static let columns = [
        Column("ms", .wall, decimals: 1),
        .spread("least-most", .wall),
        Column("CPU ms", .cpu),
        Column("MB", .peakMemory, per: 1e6, decimals: 1),
        Column("of limit", .ratioToLimit, decimals: 2),
        Column("of vips", .ratioToVips, decimals: 2),
    ]

    struct Case: ScenarioCase {
        let engine: String
        let format: DecodeFormat
        let megapixels: Int
        let maximumSide: Int

        var heading: String { "\(format.rawValue), \(megapixels) MP to \(maximumSide)" }
    }

    /// The sizes by megapixels; all have the aspect ratio of a photograph.
    private static let sizes = [
        1: PixelSize(width: 1_224, height: 816),
        10: PixelSize(width: 3_864, height: 2_588),
        100: PixelSize(width: 12_000, height: 8_334),
    ]

    static func cases(_ extent: Extent) -> [Case] {
        DecodeFormat.allCases.flatMap { format in
            sizes.keys.sorted().flatMap { megapixels -> [Case] in
                // Creating large PNG and WebP files takes a minute the first time.
                if extent == .quick, megapixels == 100, format.imageFormat != .jpeg { return [] }
                return sides(of: megapixels, extent).flatMap { side in
                    [.decoder, format.limit, .thumbnail, .vipsthumbnail].compactMap(\.self).map {
                        (engine: DecodeEngine) in
                        Case(engine: engine.rawValue, format: format, megapixels: megapixels, maximumSide: side)
                    }
                }
            }
        }
    }

    /// Returns the maximum sides that make the image smaller.
    private static func sides(of megapixels: Int, _ extent: Extent) -> [Int] {
        let sides = extent == .full ? [256, 1_024, 4_000] : [1_024]
        return sides.filter { side in sizes[megapixels].map { side < max($0.width, $0.height) } ?? false }
    }

    struct Site: Codable {
        let fixtures: FixtureFolder
        let scratch: String
    }

    static func withSite<Result: Sendable>(
        for cases: [Case], fixtures: FixtureFolder, _ body: (Site) async throws -> Result
    ) async throws -> Result {
        for subject in cases { _ = try picture(for: subject, in: fixtures) }
        return try await TemporaryFolder.with(name) { try await body(Site(fixtures: fixtures, scratch: $0)) }
    }

    private static func picture(for subject: Case, in fixtures: FixtureFolder) throws -> (path: String, size: PixelSize)
    {
        guard let size = sizes[subject.megapixels] else { throw Unable(engine: subject.engine, task: subject.heading) }
        let picture = try fixtures.picture(
            as: subject.format.imageFormat, width: size.width, height: size.height,
            isProgressive: subject.format == .progressiveJPEG)
        return (picture.path, size)
    }

    /// Measures the medians of repeated runs during half a second.
    ///
    /// A single run with a small image takes little longer than starting the process.
    static func measure(_ subject: Case, at site: Site) async throws -> Measurements {
        guard let engine = DecodeEngine(rawValue: subject.engine) else {
            throw Unable(engine: subject.engine, task: "decode")
        }
        let picture = try picture(for: subject, in: site.fixtures)
        let command = try engine.command(
            picture.path, size: picture.size, maximumSide: subject.maximumSide, scratch: site.scratch)
        var measurements = Measurements()
        measurements[.peakMemory] = try command.runForMemory(scratch: site.scratch).peakMemory.map(Double.init)
        var runs: [Usage] = []
        let end = ContinuousClock.now + .milliseconds(500)
        repeat { runs.append(try command.run()) } while .now < end
        measurements[.wall] = Summary(runs.map(\.wall.milliseconds))?.median
        measurements[.cpu] = Summary(runs.map(\.cpu.milliseconds))?.median
        return measurements
    }

    static func compare(_ subject: Case, in repetition: Repetition<Case>) -> Measurements {
        func peer(_ engine: DecodeEngine?) -> Measurements? {
            repetition.first { $0.engine == engine?.rawValue && $0.heading == subject.heading }
        }
        var ratios = Measurements()
        let (mine, vips) = (repetition[subject], peer(.vipsthumbnail))
        // The thumbnail command also writes a file, unlike the limit.
        if subject.engine != DecodeEngine.thumbnail.rawValue {
            ratios[.ratioToLimit] = mine.ratio(of: .wall, to: peer(subject.format.limit))
        }
        if subject.engine == DecodeEngine.thumbnail.rawValue {
            ratios[.ratioToVips] = mine.ratio(of: .wall, to: vips)
            ratios[.memoryRatioToVips] = mine.ratio(of: .peakMemory, to: vips)
        }
        return ratios
    }
}

extension Metric {
    static let ratioToVips = Metric(rawValue: "ratio_to_vipsthumbnail")
    static let memoryRatioToVips = Metric(rawValue: "memory_ratio_to_vipsthumbnail")
}
