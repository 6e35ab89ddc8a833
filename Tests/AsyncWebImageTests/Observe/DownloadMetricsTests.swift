import CoreMetrics
import LoopbackOrigin
import MetricsTestKit
import Testing

@testable import AsyncWebImage

/// The metrics of a loader, recorded by a factory of the test.
@Suite(.timeLimit(.minutes(2)))
struct DownloadMetricsTests {
    private let recorded = TestMetrics()
    private let clock = ManualClock()

    private func loader(
        dimensions: [(String, String)] = [], _ change: (inout DownloadConfiguration) -> Void = { _ in }
    ) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.metrics = MetricsConfiguration(factory: recorded, dimensions: dimensions)
        change(&configuration.downloads)
        return ImageLoader(configuration: configuration, clock: clock)
    }

    private func count(_ name: String, _ dimensions: [(String, String)] = []) throws -> Int64 {
        try recorded.expectCounter("webimage_\(name)_total", dimensions).totalValue
    }

    private func times(_ name: String, _ dimensions: [(String, String)] = []) throws -> [Int64] {
        try recorded.expectTimer("webimage_\(name)_seconds", dimensions).values
    }

    private func level(_ name: String) throws -> Double {
        try recorded.expectMeter("webimage_downloads_\(name)").lastValue ?? 0
    }

    private func expectNothingIsActive() throws {
        let levels = (running: try level("running"), waiting: try level("waiting"))
        #expect(levels == (running: 0, waiting: 0))
    }

    @Test func sharedDownloadIsCountedOnceInMetrics() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/a", .init(body: [1, 2, 3]).held(at: .start, until: gate))
            let loader = loader()
            let tasks = (0..<5).map { _ in loader.dataTask(for: ImageRequest(origin.url("/a"))) }
            await loader.coordinator.callers(reach: 5)
            #expect(try level("running") == 1)
            gate.open()
            for task in tasks { _ = try await task.value }
            await loader.coordinator.becomesIdle()

            #expect(try count("downloads_started") == 1)
            #expect(try count("downloads", [("outcome", "finished")]) == 1)
            #expect(try count("downloads", [("outcome", "failed")]) == 0)
            #expect(try count("downloaded_bytes") == 3)
            let (duration, firstByte) = (
                try times("download_duration", [("outcome", "finished")]), try times("download_first_byte")
            )
            try #require(duration.count == 1 && firstByte.count == 1)
            #expect(duration[0] >= firstByte[0] && firstByte[0] > 0)
            try expectNothingIsActive()
        }
    }

    @Test func failedDownloadsAreCountedByCode() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/cut", .init(body: [1, 2, 3]).cut(at: .body(1)))
            origin.route("/broken", .init(status: 503))
            let loader = loader()
            for path in ["/cut", "/broken", "/missing"] {
                _ = try? await loader.data(for: ImageRequest(origin.url(path)))
            }
            await loader.coordinator.becomesIdle()
            #expect(try count("downloads", [("outcome", "failed")]) == 3)
            for code in ["truncated", "http_503", "http_404"] {
                #expect(try count("download_failures", [("code", code)]) == 1)
            }
            #expect(try times("download_duration", [("outcome", "failed")]).count == 3)
            try expectNothingIsActive()
        }
    }

    @Test func countersOfFailuresExistBeforeTheFirstFailure() throws {
        _ = loader()
        for code in ["timeout_idle", "truncated", "overloaded", "http_503", "http_404", "other"] {
            #expect(try count("download_failures", [("code", code)]) == 0)
        }
    }

    @Test func waitsDecodesAndWorkAreTimed() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png)
            origin.route("/a", .init(body: file))
            origin.route("/cut", .init(body: Array(file.prefix(file.count / 2))))
            let loader = loader()
            _ = try await loader.image(for: ImageRequest(origin.url("/a")))
            _ = try? await loader.image(for: ImageRequest(origin.url("/cut")))
            #expect(await loader.decoder.perform { 7 } == 7)
            await loader.coordinator.becomesIdle()
            #expect(try times("download_wait").count == 2)
            #expect(try times("decode_duration", [("outcome", "finished")]).count == 1)
            #expect(try times("decode_duration", [("outcome", "failed")]).count == 1)
            #expect(try times("decode_memory_wait").count == 2 && times("decoder_work").count == 1)
            #expect(try recorded.expectMeter("webimage_bytes_in_flight").lastValue != nil)
        }
    }

    @Test func serversCannotChooseValuesOfDimensions() async throws {
        try await withLoopbackOrigin { (origin) async throws in
            for status in [777, 612] { origin.route("/\(status)", .init(status: status)) }
            let loader = loader()
            for status in [777, 612] { _ = try? await loader.data(for: ImageRequest(origin.url("/\(status)"))) }
            await loader.coordinator.becomesIdle()
            #expect(try count("download_failures", [("code", "other")]) == 2)
        }
    }

    @Test func everyTryIsTimedAndEveryRetryCounted() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", [.init(status: 503), .init(body: [1])])
            let loader = loader { $0.retry = ExponentialBackoff() }
            async let data = loader.data(for: ImageRequest(origin.url("/a")))
            _ = await clock.nextSleep()
            #expect(try level("running") == 0)
            clock.advance(by: .seconds(100))
            _ = try await data
            await loader.coordinator.becomesIdle()
            #expect(try count("download_retries") == 1)
            #expect(try count("downloads_started") == 1)
            #expect(try count("downloads", [("outcome", "finished")]) == 1)
            #expect(try times("download_first_byte").count == 2)
            try expectNothingIsActive()
        }
    }

    @Test func downloadCanceledInQueueIsNotCountedAsStarted() async throws {
        try await withLoopbackOrigin { origin in
            let loader = loader()
            await loader.coordinator.suspend()
            let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
            await loader.coordinator.callers(reach: 1)
            #expect(try level("waiting") == 1)
            task.cancel()
            await loader.coordinator.becomesIdle()
            #expect(try count("downloads", [("outcome", "cancelled")]) == 1)
            #expect(try count("downloads_started") == 0)
            try expectNothingIsActive()
        }
    }

    @Test func metricsHaveTheConfiguredDimensionsAndNoURL() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [1]))
            let loader = loader(dimensions: [("loader", "thumbnails")])
            _ = try await loader.data(for: ImageRequest(origin.url("/a")))
            _ = try? await loader.data(for: ImageRequest(origin.url("/missing")))
            await loader.coordinator.becomesIdle()
            let dimensions = recorded.counters.flatMap(\.dimensions) + recorded.timers.flatMap(\.dimensions)
            #expect(Set(dimensions.map(\.0)) == ["loader", "outcome", "code"])
            #expect(!dimensions.contains { $0.1.contains("127.0.0.1") })
            #expect(try count("downloads_started", [("loader", "thumbnails")]) == 2)
        }
    }

    @Test func loaderWithoutMetricsHasNoListener() {
        #expect(!ImageLoader(configuration: .patient).coordinator.listeners.isObserved)
    }
}
