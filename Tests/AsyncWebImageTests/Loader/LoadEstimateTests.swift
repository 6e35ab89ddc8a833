import HTTPTransport
import Testing

@testable import AsyncWebImage

/// The load of a loader, and what fails because of it.
@Suite(.timeLimit(.minutes(1)))
struct LoadEstimateTests {
    @Test func loadIsKnownWithoutWaiting() async throws {
        let transport = ScriptedTransport()
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.maximumConcurrentDownloads = 1
        configuration.downloads.maximumWaitingDownloads = 2
        let loader = ImageLoader(configuration: configuration, transport: transport)
        #expect(loader.load == LoadEstimate(waiting: 0, running: 0, bytesInFlight: 0, decodeBytes: 0))
        let tasks = (0..<3).map { loader.dataTask(for: ImageRequest("http://a/\($0)")) }
        _ = await loader.coordinator.activity
        #expect(loader.load.running == 1 && loader.load.waiting == 2)
        await #expect { try await loader.data(for: ImageRequest("http://a/3")) } throws: { error in
            guard let error = error as? ImageError, case .overloaded(let time, let url) = error else { return false }
            return time == .seconds(1) && url == "http://a/3" && error.isRetryable
        }
        let bytes = try await loader.decoder.withMemory(50) { loader.load.decodeBytes }
        #expect(bytes == 50 && loader.load.decodeBytes == 0)
        for task in tasks { task.cancel() }
        await loader.coordinator.becomesIdle()
        #expect(loader.load.waiting == 0 && loader.load.running == 0)
    }
}
