import ImageCodecs

/// The cost of shrinking images of the optional formats, compared to each format's own command and to libvips.
enum Formats: Scenario {
    static let name = "formats"
    static let summary = "AVIF, HEIC, JPEG XL, TIFF to thumbnails; own commands: full size"
    static let deadline = Duration.seconds(300)

    static let columns = [
        Column("ms", .wall),
        Column("CPU ms", .cpu),
        Column("MB", .peakMemory, per: 1e6),
        Column("CPU of own", .ratioToLimit, decimals: 2),
        Column("of vips", .ratioToVips, decimals: 2),
        Column("MB of vips", .memoryRatioToVips, decimals: 2),
    ]

    struct Case: ScenarioCase {
        let engine: String
        let format: OptionalFormat
        let megapixels: Int
        let maximumSide: Int

        var heading: String { "\(format.name), \(megapixels) MP to \(maximumSide)" }
    }

    private static let sizes = [
        1: PixelSize(width: 1_224, height: 816),
        10: PixelSize(width: 3_864, height: 2_588),
        50: PixelSize(width: 8_660, height: 5_774),
    ]

    static func cases(_ extent: Extent) -> [Case] {
        OptionalFormat.allCases.flatMap { format in
            // Encoding 50 megapixels takes minutes the first time.
            (extent == .full ? [1, 10, 50] : [1]).flatMap { megapixels in
                (extent == .full ? [256, 1_024] : [1_024]).flatMap { side in
                    ["webimage", format.decoder, "vipsthumbnail"].map {
                        Case(engine: $0, format: format, megapixels: megapixels, maximumSide: side)
                    }
                }
            }
        }
    }

    struct Site: Codable {
        let fixtures: FixtureFolder
        let scratch: String
    }

    static func withSite<Result: Sendable>(
        for cases: [Case], fixtures: FixtureFolder, _ body: (Site) async throws -> Result
    ) async throws -> Result {
        try await TemporaryFolder.with(name) { scratch in
            let site = Site(fixtures: fixtures, scratch: scratch)
            for subject in cases { _ = try? path(for: subject, at: site) }
            return try await body(site)
        }
    }

    private static func path(for subject: Case, at site: Site) throws -> String {
        guard let size = sizes[subject.megapixels] else { throw Unable(engine: subject.engine, task: subject.heading) }
        let name = "photograph-\(size.width)x\(size.height).\(subject.format.fileExtension)"
        return try site.fixtures.file(name) {
            let original = try site.fixtures.picture(as: .png, width: size.width, height: size.height).path
            let output = "\(site.scratch)/encoded.\(subject.format.fileExtension)"
            _ = try subject.format.encoding(of: original, to: output).run()
            defer { File.remove(output) }
            return try File.read(output)
        }
    }

    /// Measures the medians of three runs or more.
    static func measure(_ subject: Case, at site: Site) async throws -> Measurements {
        let input = try path(for: subject, at: site)
        let output = "\(site.scratch)/\(subject.engine).jpg"
        let side = "\(subject.maximumSide)"
        let command =
            switch subject.engine {
            case "webimage": try webimage(input, output, side: side)
            case "vipsthumbnail": Command(try Tool("vipsthumbnail"), [input, "--size", side, "-o", output])
            default: try subject.format.decoding(of: input, scratch: site.scratch)
            }
        var measurements = Measurements()
        measurements[.peakMemory] = try command.runForMemory(scratch: site.scratch).peakMemory.map(Double.init)
        var runs: [Usage] = []
        let end = ContinuousClock.now + .milliseconds(500)
        repeat { runs.append(try command.run()) } while runs.count < 3 || .now < end
        measurements[.wall] = Summary(runs.map(\.wall.milliseconds))?.median
        measurements[.cpu] = Summary(runs.map(\.cpu.milliseconds))?.median
        return measurements
    }

    private static func webimage(_ input: String, _ output: String, side: String) throws -> Command {
        Command(
            try .webimage(),
            ["get", input, "-o", output, "--max-pixel-size", side, "--format", "jpeg", "--overwrite"])
    }

    static func compare(_ subject: Case, in repetition: Repetition<Case>) -> Measurements {
        guard subject.engine == "webimage" else { return Measurements() }
        func peer(_ engine: String) -> Measurements? {
            repetition.first { $0.engine == engine && $0.heading == subject.heading }
        }
        var ratios = Measurements()
        let (mine, vips) = (repetition[subject], peer("vipsthumbnail"))
        ratios[.ratioToLimit] = mine.ratio(of: .cpu, to: peer(subject.format.decoder))
        ratios[.ratioToVips] = mine.ratio(of: .cpu, to: vips)
        ratios[.memoryRatioToVips] = mine.ratio(of: .peakMemory, to: vips)
        return ratios
    }
}
