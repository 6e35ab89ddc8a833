import AsyncWebImage
import HTTPTransport
import LoopbackOrigin
import Testing

/// Many callers, faults and cancellations at random: whatever the schedule, everybody is answered and nothing is left.
@Suite(.timeLimit(.minutes(2)))
struct SoakTests {
    typealias Response = LoopbackOrigin.Response

    private func response(_ body: [UInt8], _ random: inout SplitMix) -> Response {
        let response = Response(body: body, framing: Bool.random(using: &random) ? .contentLength : .chunked)
        let place = Int.random(in: 0..<body.count, using: &random)
        return switch Int.random(in: 0..<8, using: &random) {
        case 0: response.cut(at: .body(place))
        case 1: response.reset(at: .body(place))
        case 2: response.stalled(at: .body(place))
        case 3: Response(status: 503, body: body)
        case 4: response.paused(at: .body(place), for: .milliseconds(20))
        default: response
        }
    }

    private func run(_ request: ImageRequest, _ wish: Int, with loader: ImageLoader) async throws {
        switch wish {
        case 0: _ = try await loader.image(for: request)
        case 1: _ = try await loader.data(for: request)
        case 2: _ = try await loader.info(for: request)
        case 3: for try await _ in loader.frames(for: request) {}
        default:
            // A stream that is left after the first frame.
            for try await _ in loader.frames(for: request) { break }
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func everybodyIsAnsweredAndNothingIsLeft(seed: UInt64) async throws {
        try await withLoopbackOrigin { origin in
            var random = SplitMix(seed: seed)
            for index in 0..<20 {
                let file = try Samples.file(ImageFormat.allCases[index % 4], 60 + index, 50)
                let responses = (0..<20).map { _ in response(file, &random) }
                origin.route("/\(index)", responses)
            }
            var configuration = ImageLoader.Configuration.patient
            configuration.downloads.deadlines = Deadlines(firstByte: .milliseconds(500), idle: .milliseconds(200))
            configuration.downloads.replayLimit = 1_000
            configuration.decoding.memoryBudget = 200_000
            configuration.memoryCacheLimit = 30_000
            var loader: ImageLoader? = ImageLoader(configuration: configuration)
            do {
                let loader = try #require(loader)
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<300 {
                        let sides = [8, 20, 1_000]
                        let request = ImageRequest(
                            origin.url("/\(Int.random(in: 0..<20, using: &random))"),
                            maximumSide: sides[Int.random(in: 0..<3, using: &random)])
                        let wish = Int.random(in: 0..<5, using: &random)
                        let patience =
                            Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 0..<300, using: &random) : nil
                        group.addTask {
                            let caller = Task {
                                do {
                                    try await run(request, wish, with: loader)
                                } catch {
                                    #expect(error is ImageError || (patience != nil && error is CancellationError))
                                }
                            }
                            if let patience {
                                for _ in 0..<patience { await Task.yield() }
                                caller.cancel()
                            }
                            await caller.value
                        }
                    }
                }
                await loader.coordinator.becomesIdle()
                while await loader.decoder.memoryInUse != 0, !Task.isCancelled { await Task.yield() }
            }
            loader = nil
            await origin.openConnections(become: 0)
        }
    }

    @Test func thousandConsumersOfFramesShareOneRequest() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png, 200, 150)
            let gate = Gate()
            origin.route("/a.png", Response(body: file).held(at: .body(file.count / 2), until: gate))
            let loader = ImageLoader(configuration: .patient)
            let request = ImageRequest(origin.url("/a.png"))
            // These never ask, and so want nothing.
            let unused = (0..<100).map { _ in loader.frames(for: request) }
            try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<1_000 {
                    group.addTask {
                        var finals = 0
                        for try await frame in loader.frames(for: request) {
                            finals += frame.isFinal ? 1 : 0
                            if index % 10 == 0, !frame.isFinal { return 1 }
                        }
                        return finals
                    }
                }
                await loader.coordinator.callers(reach: 900)
                gate.open()
                let finals = try await group.reduce(0, +)
                #expect(finals == 1_000)
            }
            #expect(origin.counts.requests["/a.png"] == 1)
            await loader.coordinator.becomesIdle()
            withExtendedLifetime(unused) {}
        }
    }

    @Test func stormOfCancellationsLeavesNothing() async throws {
        try await withLoopbackOrigin { origin in
            for index in 0..<10 { origin.route("/\(index)", Response(body: [1]).stalled(at: .start)) }
            let loader = ImageLoader(configuration: .patient)
            for _ in 0..<5 {
                let tasks = (0..<300).map { loader.task(for: ImageRequest(origin.url("/\($0 % 10)"))) }
                for task in tasks { task.cancel() }
                for task in tasks {
                    await #expect(throws: CancellationError.self) { try await task.value }
                }
            }
            await loader.coordinator.becomesIdle()
            await origin.counts { $0.runningRequests == 0 }
        }
    }
}
