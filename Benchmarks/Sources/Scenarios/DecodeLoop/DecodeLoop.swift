import Glibc
import ImageCodecs

/// The cost of small decodes in a running process, without startup and with memory that has been used before.
enum DecodeLoop: Scenario {
    static let name = "decode-loop"
    static let summary = "JPEG files in memory to pixels, one after the other in one process"

    static let columns = [
        Column("ms", .wall, decimals: 2),
        .spread("least-most", .wall, decimals: 2),
        Column("CPU ms", .cpu, decimals: 2),
        Column("page faults", .pageFaults),
        Column("of limit", .ratioToLimit, decimals: 2),
    ]

    struct Case: ScenarioCase {
        let engine: String
        let megapixels: Int
        let maximumSide: Int

        var heading: String { "\(megapixels) MP to \(maximumSide)" }
    }

    /// The sizes by megapixels; all have the aspect ratio of a photograph.
    private static let sizes = [1: PixelSize(width: 1_224, height: 816), 10: PixelSize(width: 3_864, height: 2_588)]

    static func cases(_ extent: Extent) -> [Case] {
        [1, 10].flatMap { megapixels in
            (extent == .full ? [256, 1_024] : [1_024]).flatMap { side in
                DecodeLoopEngine.allCases.map {
                    Case(engine: $0.rawValue, megapixels: megapixels, maximumSide: side)
                }
            }
        }
    }

    static func withSite<Result: Sendable>(
        for cases: [Case], fixtures: FixtureFolder, _ body: (FixtureFolder) async throws -> Result
    ) async throws -> Result {
        for size in sizes.values { _ = try fixtures.jpeg(width: size.width, height: size.height) }
        return try await body(fixtures)
    }

    /// Decodes for half a second after a few decodes that are not measured.
    static func measure(_ subject: Case, at fixtures: FixtureFolder) async throws -> Measurements {
        guard let engine = DecodeLoopEngine(rawValue: subject.engine), let size = sizes[subject.megapixels] else {
            throw Unable(engine: subject.engine, task: subject.heading)
        }
        let file = try File.read(fixtures.jpeg(width: size.width, height: size.height).path)
        let work = engine.work(file, size: size, maximumSide: subject.maximumSide)
        for _ in 0..<3 { try work() }
        var times: [Double] = []
        let (_, usage) = try await Usage.measuring {
            let end = ContinuousClock.now + .milliseconds(500)
            repeat { times.append(try ContinuousClock().measure(work).milliseconds) } while .now < end
        }
        var measurements = Measurements()
        measurements[.wall] = Summary(times)?.median
        measurements[.cpu] = usage.cpu.milliseconds / Double(times.count)
        measurements[.pageFaults] = Double(usage.pageFaults) / Double(times.count)
        return measurements
    }

    /// Returns the time of the decoder relative to that of libjpeg and the filter together.
    static func compare(_ subject: Case, in repetition: Repetition<Case>) -> Measurements {
        var ratios = Measurements()
        guard subject.engine == DecodeLoopEngine.decoder.rawValue else { return ratios }
        func time(_ engine: DecodeLoopEngine) -> Double? {
            repetition.first { $0.engine == engine.rawValue && $0.heading == subject.heading }?[.wall]
        }
        guard let mine = time(.decoder), let libjpeg = time(.libjpeg), let filter = time(.filter) else { return ratios }
        ratios[.ratioToLimit] = mine / (libjpeg + filter)
        return ratios
    }
}

extension Metric {
    static let pageFaults = Metric(rawValue: "page_faults")
}
