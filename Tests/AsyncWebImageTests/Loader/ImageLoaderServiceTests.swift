#if ServiceLifecycle
import AsyncWebImage
import LoopbackOrigin
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

@Suite(.timeLimit(.minutes(2)))
struct ImageLoaderServiceTests {
    private func marked(_ url: String) -> ImageRequest {
        var request = ImageRequest(url)
        request.finishesOnShutdown = true
        return request
    }

    @Test func gracefulShutdownLetsMarkedDownloadsFinish() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/marked", .init(body: [1]).held(at: .start, until: gate))
            origin.route("/other", .init(body: [2]).stalled(at: .start))
            let loader = ImageLoader(configuration: .patient, clock: ManualClock())
            let task = loader.dataTask(for: marked(origin.url("/marked")))
            let other = loader.dataTask(for: ImageRequest(origin.url("/other")))
            await loader.coordinator.callers(reach: 2)

            try await testGracefulShutdown { trigger in
                async let service: Void = ImageLoaderService(loader: loader, gracePeriod: .seconds(10)).run()
                trigger.triggerGracefulShutdown()
                await #expect(throws: ImageError.self) { try await other.value }
                gate.open()
                try await service
            }
            let data = try await task.value
            #expect(data.bytes == [1])
            await #expect(throws: ImageError.self) { try await loader.data(for: ImageRequest(origin.url("/marked"))) }
        }
    }

    @Test func cancelingTheServiceStopsAllDownloads() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/marked", .init(body: [1]).stalled(at: .start))
            let loader = ImageLoader(configuration: .patient, clock: ManualClock())
            let task = loader.dataTask(for: marked(origin.url("/marked")))
            await loader.coordinator.callers(reach: 1)
            let service = Task { try await ImageLoaderService(loader: loader, gracePeriod: .seconds(10)).run() }
            service.cancel()
            try await service.value
            await #expect(throws: ImageError.self) { try await task.value }
        }
    }
}
#endif
