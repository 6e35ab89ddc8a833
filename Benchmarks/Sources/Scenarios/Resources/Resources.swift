import AllocationCounter
import Engines
import ImageCodecs

/// The numbers of allocations, page faults, and context switches for each request and each decode.
///
/// They depend less on the machine and its load than times do.
enum Resources: Scenario {
    static let name = "resources"
    static let summary = "allocations, page faults, and context switches per body and image"

    static let columns = [
        Column("allocations", .allocations, decimals: 1),
        .spread("least-most", .allocations, decimals: 1),
        Column("page faults", .pageFaults, decimals: 2),
        Column("switches", .contextSwitches, decimals: 2),
    ]

    struct Case: ScenarioCase {
        let engine: String
        /// The number of transfers at a time, or 0 for decodes.
        let concurrency: Int
        /// The size of a body, or 0 for decodes.
        let bodyBytes: Int
        /// The longer side of a decoded image of one megapixel, or 0 for bodies.
        let maximumSide: Int
        /// The number of requests or decodes.
        let count: Int

        var heading: String {
            maximumSide > 0 ? "1 MP to \(maximumSide)" : "\(bodyBytes / 1_024) KiB, \(concurrency) at a time"
        }
    }

    private static let imageSize = PixelSize(width: 1_224, height: 816)

    static func cases(_ extent: Extent) -> [Case] {
        let count = extent == .full ? 2_000 : 500
        let bodies = [10, 200].flatMap { kibibytes in
            [1, 64].flatMap { concurrency in
                EngineName.allCases.filter { $0 != .curlMultiFreeing }.map {
                    Case(
                        engine: $0.rawValue, concurrency: concurrency, bodyBytes: kibibytes * 1_024, maximumSide: 0,
                        count: count)
                }
            }
        }
        let images = [DecodeLoopEngine.decoder, .libjpeg].map {
            Case(engine: $0.rawValue, concurrency: 0, bodyBytes: 0, maximumSide: 1_024, count: count / 50)
        }
        return bodies + images
    }

    static func withSite<Result: Sendable>(
        for cases: [Case], fixtures: FixtureFolder, _ body: (OriginSite) async throws -> Result
    ) async throws -> Result {
        _ = try fixtures.jpeg(width: imageSize.width, height: imageSize.height)
        return try await OriginSite.serving(
            bodies: cases.map(\.bodyBytes).filter { $0 > 0 }, of: fixtures, body)
    }

    static func measure(_ subject: Case, at site: OriginSite) async throws -> Measurements {
        allocation_counter_start()
        let usage =
            try await subject.maximumSide > 0
            ? decode(subject, site.fixtures) : fetch(subject, from: site)
        var measurements = Measurements()
        let count = Double(subject.count)
        measurements[.allocations] = usage.allocations.map { Double($0) / count }
        measurements[.pageFaults] = Double(usage.pageFaults) / count
        measurements[.contextSwitches] = Double(usage.contextSwitches) / count
        return measurements
    }

    private static func fetch(_ subject: Case, from site: OriginSite) async throws -> Usage {
        let load = ClosedLoop(
            prefix: site.origin.url(FixtureFolder.bodyName(bytes: subject.bodyBytes) + "?n="),
            requests: subject.count, concurrency: subject.concurrency)
        let run = try await load.run(on: try EngineName(named: subject.engine))
        try Mismatch.check("bytes of bodies", run.bodyBytes, is: subject.count * subject.bodyBytes)
        return run.usage
    }

    private static func decode(_ subject: Case, _ fixtures: FixtureFolder) async throws -> Usage {
        guard let engine = DecodeLoopEngine(rawValue: subject.engine) else {
            throw Unable(engine: subject.engine, task: subject.heading)
        }
        let picture = try fixtures.jpeg(width: imageSize.width, height: imageSize.height)
        let work = engine.work(try File.read(picture.path), size: imageSize, maximumSide: subject.maximumSide)
        for _ in 0..<3 { try work() }
        return try await Usage.measuring { for _ in 0..<subject.count { try work() } }.1
    }
}

extension Metric {
    static let allocations = Metric(rawValue: "allocations")
    static let contextSwitches = Metric(rawValue: "context_switches")
}
