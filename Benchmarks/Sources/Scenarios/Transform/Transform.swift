import ImageCodecs

/// The cost of transformations of pixels in memory, next to that of libvips for the same work.
enum Transform: Scenario {
    static let name = "transform"
    static let summary = "pixels to pixels in memory, next to libvips"
    static let deadline = Duration.seconds(120)

    static let columns = [
        Column("ms", .wall, decimals: 2),
        .spread("least-most", .wall, decimals: 2),
        Column("CPU ms", .cpu, decimals: 2),
        Column("MB", .additionalMemory, per: 1e6, decimals: 1),
        Column("of vips", .ratioToVipsLoop, decimals: 2),
        Column("CPU", .cpuToVipsLoop, decimals: 2),
    ]

    /// The work for one image.
    enum Work: String, Codable, CaseIterable, Sendable {
        /// A thumbnail is cropped to a square, blurred, and gets rounded corners.
        case avatar = "crop, blur, corners"
        /// The same, with the blur at last, which softens the corners.
        case softAvatar = "crop, corners, blur"
        /// A large image is blurred.
        case blur = "blur, 12 MP"

        /// The size of the image.
        var size: PixelSize {
            self == .blur ? PixelSize(width: 4_000, height: 3_000) : PixelSize(width: 320, height: 240)
        }
    }

    static let side = 240
    static let radius = 24.0
    static let sigma = 8.0

    struct Case: ScenarioCase {
        let engine: String
        let work: Work
        /// The number of images that are transformed one after the other.
        let images: Int

        var heading: String { work.rawValue }
    }

    static func cases(_ extent: Extent) -> [Case] {
        Work.allCases.flatMap { work in
            TransformEngine.allCases.map { engine in
                let images = work == .blur ? (extent == .full ? 20 : 5) : (extent == .full ? 1_000 : 200)
                return Case(engine: engine.rawValue, work: work, images: images)
            }
        }
    }

    static func withSite<Result: Sendable>(
        for cases: [Case], fixtures: FixtureFolder, _ body: (FixtureFolder) async throws -> Result
    ) async throws -> Result { try await body(fixtures) }

    /// Measures the time for one image, after one that is not measured, and by how much that one increased the memory.
    static func measure(_ subject: Case, at fixtures: FixtureFolder) async throws -> Measurements {
        guard let engine = TransformEngine(rawValue: subject.engine) else {
            throw Unable(engine: subject.engine, task: subject.heading)
        }
        let size = subject.work.size
        let count = subject.work == .blur ? 1 : 20
        let pictures = try (0..<count).map {
            try Photograph.pixels(width: size.width, height: size.height, number: $0)
        }
        let work = try engine.work(subject.work, on: pictures)
        var measurements = Measurements()
        let memory = PeakMemory.restart()
        try work(0)
        if let memory, let peak = PeakMemory.bytes() { measurements[.additionalMemory] = Double(peak - memory) }
        let (times, usage) = try await Usage.measuring {
            try (0..<subject.images).map { number in try ContinuousClock().measure { try work(number) }.milliseconds }
        }
        measurements[.wall] = Summary(times)?.median
        measurements[.cpu] = usage.cpu.milliseconds / Double(times.count)
        return measurements
    }

    /// Returns the time and the CPU time relative to those of libvips with one thread for small images, and with the
    /// threads of its own choice for large ones.
    static func compare(_ subject: Case, in repetition: Repetition<Case>) -> Measurements {
        var ratios = Measurements()
        let peer = subject.work == .blur ? TransformEngine.vips : .vipsThread
        guard subject.engine == TransformEngine.pixels.rawValue else { return ratios }
        let vips = repetition.first { $0.engine == peer.rawValue && $0.work == subject.work }
        ratios[.ratioToVipsLoop] = repetition[subject].ratio(of: .wall, to: vips)
        ratios[.cpuToVipsLoop] = repetition[subject].ratio(of: .cpu, to: vips)
        return ratios
    }
}

extension Metric {
    /// The peak memory during the work, minus the memory before it.
    static let additionalMemory = Metric(rawValue: "additional_bytes")
    static let ratioToVipsLoop = Metric(rawValue: "ratio_to_vips")
    static let cpuToVipsLoop = Metric(rawValue: "cpu_to_vips")
}
