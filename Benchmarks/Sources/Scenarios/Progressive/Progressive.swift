/// The time until a slow image is first shown, and the cost of showing it while it arrives.
enum Progressive: Scenario {
    static let name = "progressive"
    static let summary = "one progressive JPEG at 2 MB/s, decoded at full size"
    static let deadline = Duration.seconds(180)

    static let columns = [
        Column("first ms", .firstPreview),
        Column("% bytes", .firstPreviewShare, per: 0.01, decimals: 1),
        Column("previews", .previews),
        Column("ms", .wall),
        Column("CPU ms", .cpu),
        Column("of plain", .cpuRatioToPlain, decimals: 2),
        Column("of limit", .cpuRatioToLimit, decimals: 2),
        Column("MB", .peakMemory, per: 1e6),
    ]

    struct Case: ScenarioCase {
        let engine: String
        let width: Int
        let height: Int

        var heading: String { "\(width) x \(height)" }
    }

    private static let bytesPerSecond = 2_000_000

    static func cases(_ extent: Extent) -> [Case] {
        let small = ProgressiveLoad.allCases.map { Case(engine: $0.rawValue, width: 2_760, height: 1_840) }
        guard extent == .full else { return small }
        // The operation queue, which decodes all bytes for every piece, would take four minutes for these 4 MB.
        let large = ProgressiveLoad.allCases.filter { $0 != .operationQueue }
        return small + large.map { Case(engine: $0.rawValue, width: 5_520, height: 3_680) }
    }

    static func withSite<Result: Sendable>(
        for cases: [Case], fixtures: FixtureFolder, _ body: (OriginSite) async throws -> Result
    ) async throws -> Result {
        for subject in cases { _ = try picture(for: subject, in: fixtures) }
        return try await Origin.serving(fixtures) { try await body(OriginSite(origin: $0, fixtures: fixtures)) }
    }

    private static func picture(for subject: Case, in fixtures: FixtureFolder) throws -> (name: String, path: String) {
        try fixtures.jpeg(width: subject.width, height: subject.height, isProgressive: true)
    }

    static func measure(_ subject: Case, at site: OriginSite) async throws -> Measurements {
        guard let engine = ProgressiveLoad(rawValue: subject.engine) else {
            throw Unable(engine: subject.engine, task: "show previews")
        }
        let picture = try picture(for: subject, in: site.fixtures)
        let bytes = try File.read(picture.path)
        let url = site.origin.url(picture.name, bytesPerSecond: bytesPerSecond)
        let work = try engine.work(url, bytes)
        let previews = PreviewClock()
        let (rows, usage) = try await Usage.measuring { try await work { previews.tick() } }
        try Mismatch.check("rows", rows, is: subject.height)
        var measurements = measurements(of: usage)
        guard engine.showsPreviews else { return measurements }
        measurements[.previews] = Double(previews.count)
        measurements[.firstPreview] = previews.first?.milliseconds
        // The origin sends at a constant rate, so the time gives the share of bytes sent.
        measurements[.firstPreviewShare] = previews.first.map {
            min(1, $0.seconds * Double(bytesPerSecond) / Double(bytes.count))
        }
        return measurements
    }

    private static func measurements(of usage: Usage) -> Measurements {
        var measurements = Measurements()
        measurements[.wall] = usage.wall.milliseconds
        measurements[.cpu] = usage.cpu.milliseconds
        measurements[.peakMemory] = PeakMemory.bytes().map(Double.init)
        return measurements
    }

    static func compare(_ subject: Case, in repetition: Repetition<Case>) -> Measurements {
        var ratios = Measurements()
        func peer(_ engine: ProgressiveLoad) -> Measurements? {
            repetition.first { $0.engine == engine.rawValue && $0.heading == subject.heading }
        }
        ratios[.cpuRatioToPlain] = repetition[subject].ratio(of: .cpu, to: peer(.plainDecode))
        ratios[.cpuRatioToLimit] = repetition[subject].ratio(of: .cpu, to: peer(.curlAndLibjpeg))
        return ratios
    }
}

extension Metric {
    static let firstPreview = Metric(rawValue: "first_preview_ms")
    static let firstPreviewShare = Metric(rawValue: "first_preview_share_of_bytes")
    static let previews = Metric(rawValue: "previews")
    static let cpuRatioToPlain = Metric(rawValue: "cpu_ratio_to_plain_decode")
    static let cpuRatioToLimit = Metric(rawValue: "cpu_ratio_to_curl_and_libjpeg")
}
