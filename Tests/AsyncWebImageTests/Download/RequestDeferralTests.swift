import CoreMetrics
import HTTPTransport
import MetricsTestKit
import Testing
import Threading

@testable import AsyncWebImage

/// Requests that a request modifier postpones.
@Suite(.timeLimit(.minutes(1)))
struct RequestDeferralTests {
    /// Defers requests of one path until it is opened.
    private struct Deferring: RequestModifier {
        let path: String
        let gate = OneShot<Void>()
        /// A Boolean value that indicates whether requests are sent.
        let isOpen = Locked(false)

        func modify(_ request: TransportRequest) async throws -> TransportRequest {
            guard request.url.string.hasSuffix(path), !isOpen.withLock(\.self) else { return request }
            throw RequestDeferral { try? await gate.value }
        }

        func open() {
            isOpen.withLock { $0 = true }
            gate.resolve(.success(()))
        }
    }

    private let clock = ManualClock()
    private let transport = ScriptedTransport()
    private let modifier = Deferring(path: "/deferred")
    private let request = ImageRequest("http://example.com/deferred")

    private func loader(_ metrics: TestMetrics? = nil) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.maximumConcurrentDownloads = 1
        configuration.downloads.deadlines.total = .seconds(60)
        configuration.downloads.requestModifier = modifier
        configuration.metrics = metrics.map { MetricsConfiguration(factory: $0) }
        return ImageLoader(configuration: configuration, transport: transport, clock: clock)
    }

    @Test func deferredRequestIsSentLaterWithItsWholeTime() async throws {
        var exchanges = transport.exchanges.makeAsyncIterator()
        let loader = loader()
        let task = loader.dataTask(for: request)
        await loader.coordinator.activity { $0.deferred == 1 && $0.running == 0 }
        clock.advance(by: .seconds(600))

        // The only slot is free for others.
        let other = loader.dataTask(for: ImageRequest("http://example.com/other"))
        let first = try #require(await exchanges.next())
        #expect(first.request.url.string == "http://example.com/other")
        first.answer(.ok, [:], [1])
        first.finish()
        #expect(try await other.value.bytes == [1])

        modifier.open()
        let second = try #require(await exchanges.next())
        #expect(second.request.deadlines.total == .seconds(60))
        second.answer(.ok, [:], [2])
        second.finish()
        #expect(try await task.value.bytes == [2])
        await loader.coordinator.becomesIdle()
    }

    @Test func cancelingEndsTheWaitOfADeferral() async throws {
        let loader = loader()
        let task = loader.dataTask(for: request)
        await loader.coordinator.activity { $0.deferred == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await loader.coordinator.activity { $0.deferred == 0 && $0.callers == 0 && $0.running == 0 }
    }

    @Test func deferralIsAnEventAndNoSecondDownloadInMetrics() async throws {
        var exchanges = transport.exchanges.makeAsyncIterator()
        let metrics = TestMetrics()
        let loader = loader(metrics)
        var events = loader.coordinator.events().makeAsyncIterator()
        let task = loader.dataTask(for: request)
        for _ in 0..<2 { _ = await events.next() }
        guard case .deferred? = await events.next()?.kind else {
            Issue.record("not deferred")
            return
        }
        #expect(try metrics.expectMeter("webimage_downloads_running").lastValue == 0)
        modifier.open()
        guard case .started(attempt: 1)? = await events.next()?.kind else {
            Issue.record("not started again")
            return
        }
        let exchange = try #require(await exchanges.next())
        exchange.answer(.ok, [:], [1])
        exchange.finish()
        _ = try await task.value
        #expect(try metrics.expectCounter("webimage_downloads_started_total").totalValue == 1)
    }
}
