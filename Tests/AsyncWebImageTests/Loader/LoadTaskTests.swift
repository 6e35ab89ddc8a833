@testable import AsyncWebImage
import LoopbackOrigin
import Testing

/// The handles of loads of every kind.
@Suite(.timeLimit(.minutes(1)))
struct LoadTaskTests {
    private let loader = ImageLoader(configuration: .patient)

    @Test func everyLoadTaskHasTheHeadOfItsResponse() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/image", .init(headerFields: ["ETag": "\"v1\""], body: try Samples.file(.gif)))
            let request = ImageRequest(origin.url("/image"))
            func tag<Value>(_ task: LoadTask<Value>) async throws -> String? {
                _ = try await task.value
                return task.head?.response.headerFields[.eTag]
            }
            #expect(try await tag(loader.imageTask(for: request)) == "\"v1\"")
            #expect(try await tag(loader.animationTask(for: request)) == "\"v1\"")
            #expect(try await tag(loader.dataTask(for: request)) == "\"v1\"")
            #expect(try await tag(loader.infoTask(for: request)) == "\"v1\"")
            // The second one comes from the memory cache.
            #expect(try await tag(loader.imageTask(for: request)) == "\"v1\"")
        }
    }

    @Test func handlesKnowTheirRequest() async throws {
        let request = ImageRequest("http://127.0.0.1:9/image", maximumSide: 10)
        #expect(loader.imageTask(for: request).request == request)
        #expect(loader.previewTask(for: request).request == request)
    }

    @Test func headAndProgressAreAvailableBeforeTheBodyIsComplete() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            defer { gate.open() }
            origin.route(
                "/a",
                LoopbackOrigin.Response(headerFields: ["ETag": "\"v1\""], body: [UInt8](repeating: 0, count: 100_000))
                    .held(at: .body(50_000), until: gate))
            let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
            for await progress in task.progress where progress.received > 0 { break }
            #expect(task.head?.response.headerFields[.eTag] == "\"v1\"")
            #expect(task.head?.contentLength == 100_000)
            gate.open()
            let body = try await task.value
            #expect(body.bytes.count == 100_000)
        }
    }

    @Test func failedLoadHasNoHead() async throws {
        try await withLoopbackOrigin { origin in
            let task = loader.animationTask(for: ImageRequest(origin.url("/missing")))
            await #expect(throws: ImageError.self) { try await task.value }
            #expect(task.head == nil)
        }
    }

    @Test func canceledAnimationAndInfoLoadsThrowAndLeaveTheDownload() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", LoopbackOrigin.Response(body: try Samples.file(.gif)).stalled(at: .start))
            let request = ImageRequest(origin.url("/a"))
            let (animation, info) = (loader.animationTask(for: request), loader.infoTask(for: request))
            animation.cancel()
            info.cancel()
            await #expect(throws: CancellationError.self) { try await animation.value }
            await #expect(throws: CancellationError.self) { try await info.value }
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func invalidURLFailsEveryKindOfLoadTask() async throws {
        let request = ImageRequest("not a URL")
        await #expect(throws: ImageError.self) { try await loader.animationTask(for: request).value }
        await #expect(throws: ImageError.self) { try await loader.infoTask(for: request, readsAnimation: true).value }
    }
}
