import HTTPTransport
import LoopbackOrigin
import TestSupport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// Downloads that take more than one try, from a real origin; only the time is not real.
@Suite(.timeLimit(.minutes(2)))
struct AttemptTests {
    let clock = ManualClock()
    let noise: [UInt8] = {
        var random = SplitMix(seed: 7)
        return (0..<200_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    }()

    func loader(_ change: (inout DownloadConfiguration) -> Void = { _ in }) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.retry = ExponentialBackoff(base: .seconds(1))
        change(&configuration.downloads)
        return ImageLoader(configuration: configuration, clock: clock)
    }

    /// Lets the next delay pass.
    func passTime() async {
        _ = await clock.nextSleep()
        clock.advance(by: .seconds(100))
    }

    @Test func temporaryFailureIsRetriedUntilSuccess() async throws {
        try await withLoopbackOrigin { origin in
            origin.route(
                "/a", [.init(status: 503), .init(body: [1, 2, 3]).cut(at: .body(1)), .init(body: [1, 2, 3])])
            let loader = loader()
            async let data = loader.data(for: ImageRequest(origin.url("/a")))
            await passTime()
            _ = await clock.nextSleep()
            let activity = await loader.coordinator.activity
            #expect(activity.backingOff == 1 && activity.running == 0 && activity.waiting == 0)
            clock.advance(by: .seconds(100))

            let answer = try await data
            #expect(answer.bytes == [1, 2, 3])
            #expect(origin.counts.requests["/a"] == 3)
        }
    }

    @Test func afterTheLastTryTheLastErrorIsThrown() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", [.init(status: 500), .init(status: 502), .init(status: 503)])
            let loader = loader()
            let data = loader.dataTask(for: ImageRequest(origin.url("/a")))
            await passTime()
            await passTime()

            let error = await #expect(throws: ImageError.self) { try await data.value }
            #expect(error?.httpStatus == 503)
            #expect(origin.counts.requests["/a"] == 3)
            await loader.coordinator.becomesIdle()
        }
    }

    @Test(arguments: [400, 401, 403, 404, 410])
    func permanentFailureIsNotRetried(_ status: Int) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(status: status))
            let error = await #expect(throws: ImageError.self) {
                try await loader().data(for: ImageRequest(origin.url("/a")))
            }
            #expect(error?.httpStatus == status)
            #expect(origin.counts.requests["/a"] == 1)
        }
    }

    @Test func undecodableBodyIsRequestedOnce() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: Array("no image at all".utf8)))
            await #expect(throws: ImageError.self) { try await loader().image(for: ImageRequest(origin.url("/a"))) }
            #expect(origin.counts.requests["/a"] == 1)
        }
    }

    @Test func retryWaitsForRetryAfter() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", [.init(status: 429, headerFields: ["Retry-After": "42"]), .init(body: [1])])
            let loader = loader()
            async let data = loader.data(for: ImageRequest(origin.url("/a")))
            #expect(await clock.nextSleep() == ManualClock.Instant(offset: .seconds(42)))
            clock.advance(by: .seconds(42))
            let answer = try await data
            #expect(answer.bytes == [1])
        }
    }

    @Test func downloadInBackoffHoldsNoSlot() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/bad", [.init(status: 503), .init(body: [1])])
            origin.route("/good", .init(body: [2]))
            let loader = loader { $0.maximumConcurrentDownloads = 1 }
            async let bad = loader.data(for: ImageRequest(origin.url("/bad")))
            _ = await clock.nextSleep()

            let answer = try await loader.data(for: ImageRequest(origin.url("/good")))
            #expect(answer.bytes == [2])
            clock.advance(by: .seconds(100))
            let again = try await bad
            #expect(again.bytes == [1])
        }
    }

    @Test func downloadInBackoffHoldsNoTransfer() async throws {
        let transport = ScriptedTransport()
        var exchanges = transport.exchanges.makeAsyncIterator()
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.retry = ExponentialBackoff(base: .seconds(1))
        let loader = ImageLoader(configuration: configuration, transport: transport, clock: clock)
        let task = loader.dataTask(for: ImageRequest("http://example.com/a"))
        let first = try #require(await exchanges.next())
        // It is attached by the end of the turn in which it was started.
        _ = await loader.coordinator.activity
        first.answer(.ok, [.contentLength: "10"], [1])
        first.fail(.connectionLost)
        _ = await clock.nextSleep()
        _ = await loader.coordinator.activity
        #expect(first.isLetGo)
        task.cancel()
    }

    @Test func callersJoinWhileADownloadWaitsToTryAgain() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", [.init(status: 503), .init(body: [1])])
            let loader = loader()
            async let first = loader.data(for: ImageRequest(origin.url("/a")))
            _ = await clock.nextSleep()
            async let second = loader.data(for: ImageRequest(origin.url("/a")))
            await loader.coordinator.callers(reach: 2)
            clock.advance(by: .seconds(100))

            let answer = try await first
            #expect(answer.source == .network)
            let again = try await second
            #expect(again.source == .joined)
            #expect(origin.counts.requests["/a"] == 2)
        }
    }

    @Test func cancellationDuringBackoffReleasesReceivedBytes() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: noise).cut(at: .body(100_000)))
            let loader = loader()
            let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
            _ = await clock.nextSleep()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            // Its bytes in flight, too.
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func cancelingADownloadInBackoffLeavesNoActivity() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(status: 503))
            let loader = loader()
            let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
            _ = await clock.nextSleep()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await loader.coordinator.becomesIdle()
            clock.advance(by: .seconds(100))
            await loader.coordinator.becomesIdle()
            #expect(origin.counts.requests["/a"] == 1)
        }
    }
}
