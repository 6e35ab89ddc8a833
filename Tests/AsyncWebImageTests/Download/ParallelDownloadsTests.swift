import AsyncWebImage
import LoopbackOrigin
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ParallelDownloadsTests {
    @Test func slowAnswersDoNotHoldUpOthersFromTheSameHost() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            let paths = ["/a", "/b", "/c"]
            for path in paths {
                origin.route(path, LoopbackOrigin.Response(body: [1, 2, 3]).held(at: .body(1), until: gate))
            }
            let loader = ImageLoader(configuration: .patient)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for path in paths {
                    let request = ImageRequest(origin.url(path))
                    group.addTask { try await loader.data(for: request).bytes.count }
                    await origin.bodyBytesSent(to: path, reach: 1)
                }
                gate.open()
                for try await count in group { #expect(count == 3) }
            }
        }
    }
}
