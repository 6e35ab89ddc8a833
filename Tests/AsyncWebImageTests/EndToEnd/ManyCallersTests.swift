import AsyncWebImage
import HTTPTransport
import LoopbackOrigin
import Testing

/// Many concurrent callers that request the same image or cancel: all get a result and nothing is left.
@Suite(.timeLimit(.minutes(2)))
struct ManyCallersTests {
    typealias Response = LoopbackOrigin.Response

    @Test func thousandConsumersOfFramesShareOneRequest() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png, 200, 150)
            let (start, end) = (Gate(), Gate())
            origin.route(
                "/a.png",
                Response(body: file).held(at: .start, until: start).held(at: .body(file.count / 2), until: end))
            let loader = ImageLoader(configuration: .patient)
            let request = ImageRequest(origin.url("/a.png"))
            // These are never iterated, so they request nothing.
            let unused = (0..<100).map { _ in loader.previews(for: request) }
            try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<1_000 {
                    group.addTask {
                        var finals = 0
                        for try await frame in loader.previews(for: request) {
                            finals += frame.isFinal ? 1 : 0
                            if index % 10 == 0, !frame.isFinal { return 1 }
                        }
                        return finals
                    }
                }
                // A caller that came after the first result would start another download.
                await loader.coordinator.callers(reach: 1_000)
                start.open()
                await loader.coordinator.activity { $0.callers == 900 }
                end.open()
                let finals = try await group.reduce(0, +)
                #expect(finals == 1_000)
            }
            #expect(origin.counts.requests["/a.png"] == 1)
            await loader.coordinator.becomesIdle()
            withExtendedLifetime(unused) {}
        }
    }

    @Test func manyCancellationsLeaveNoActivity() async throws {
        try await withLoopbackOrigin { origin in
            for index in 0..<10 { origin.route("/\(index)", Response(body: [1]).stalled(at: .start)) }
            let loader = ImageLoader(configuration: .patient)
            for _ in 0..<5 {
                let tasks = (0..<300).map { loader.imageTask(for: ImageRequest(origin.url("/\($0 % 10)"))) }
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
