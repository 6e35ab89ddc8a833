import AsyncWebImage
import Benchmark
import ImageEncoders

/// A caller's share of the cost of a download with 1,000 callers: joining it, and receiving the result.
///
/// The first caller starts the download, and the results wait for its end, for images after a decode of 64 x 64 pixels.
/// Each figure includes a thousandth of that.
enum FanOutBenchmarks {
    private static let request = ImageRequest("https://images.example.com/shared.jpg")

    /// The configuration without object counts, which crash in Swift 6.3 while tasks run.
    private static var timed: Benchmark.Configuration { .thousandSteps([.wallClock]) }

    static func register() {
        fanOut("data") { $0.dataTask(for: request) }
        fanOut("image") { $0.imageTask(for: request) }
    }

    private static func fanOut<Answer: Sendable>(
        _ name: String, start: @escaping (ImageLoader) -> LoadTask<Answer>
    ) {
        var file: [UInt8] = []
        let draw = { file = try Picture.pixels(side: 64).encoded(as: .jpeg) }

        Benchmark("FanOut_join_\(name)", configuration: timed) { benchmark in
            let transport = HeldTransport()
            let loader = ImageLoader(transport: transport)
            benchmark.startMeasurement()
            let callers = benchmark.scaledIterations.map { _ in start(loader) }
            let activity = await loader.coordinator.activity  // All callers have joined by now.
            benchmark.stopMeasurement()
            if activity.callers != callers.count { benchmark.error("\(activity.callers) callers") }
            try await serve(file, transport, callers)
        } setup: {
            try draw()
        }

        Benchmark("FanOut_deliver_\(name)", configuration: timed) { benchmark in
            let transport = HeldTransport()
            let loader = ImageLoader(transport: transport)
            let callers = benchmark.scaledIterations.map { _ in start(loader) }
            blackHole(await loader.coordinator.activity)
            benchmark.startMeasurement()
            try await serve(file, transport, callers)
            benchmark.stopMeasurement()
        } setup: {
            try draw()
        }
    }

    /// Sends the response and awaits the results of all callers.
    private static func serve<Answer: Sendable>(
        _ file: [UInt8], _ transport: HeldTransport, _ callers: [LoadTask<Answer>]
    ) async throws {
        transport.answer(with: file)
        for caller in callers { blackHole(try await caller.value) }
    }
}
