import HTTPTransport
import TestSupport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// One limit for all the time that a download takes, whatever it spends it on.
@Suite(.timeLimit(.minutes(1)))
struct DownloadTimeTests {
    /// Retries forever, always after the same delay.
    private struct Patience: RetryPolicy {
        let delay: Duration
        func delay(after error: ImageError, attempts: Int) -> Duration? { delay }
    }

    private let clock = ManualClock()
    private let transport = ScriptedTransport()
    private let request = ImageRequest("http://example.com/a")

    /// A loader whose downloads may take a minute, and are tried again after ten seconds.
    private func loader(_ change: (inout ImageLoader.Configuration) -> Void = { _ in }) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.deadlines.total = .seconds(60)
        configuration.downloads.retry = Patience(delay: .seconds(10))
        change(&configuration)
        return ImageLoader(configuration: configuration, transport: transport, clock: clock)
    }

    /// Expects that a task fails because the time is up, and returns its error.
    @discardableResult
    private func expectTimeout<Value>(
        of task: LoadTask<Value>, sourceLocation: SourceLocation = #_sourceLocation
    ) async -> ImageError? {
        let error = await #expect(throws: ImageError.self, sourceLocation: sourceLocation) { try await task.value }
        guard case .transport(let cause)? = error, cause.reason == .timedOut(.total) else {
            Issue.record("\(String(describing: error))", sourceLocation: sourceLocation)
            return nil
        }
        return error
    }

    @Test func totalDeadlineCoversAttemptsAndDelays() async throws {
        var exchanges = transport.exchanges.makeAsyncIterator()
        let task = loader().dataTask(for: request)
        let first = try #require(await exchanges.next())
        #expect(first.request.deadlines.total == .seconds(60))
        clock.advance(by: .seconds(15))
        first.fail(.connectionLost)
        await clock.sleeps(until: .seconds(25))
        clock.advance(by: .seconds(10))
        let second = try #require(await exchanges.next())
        #expect(second.request.deadlines.total == .seconds(35))
        second.answer(.ok, [:], [1])
        second.finish()
        #expect(try await task.value.bytes == [1])
    }

    @Test func noRetryStartsAfterTheTotalDeadline() async throws {
        var exchanges = transport.exchanges.makeAsyncIterator()
        let loader = loader()
        let task = loader.dataTask(for: request)
        let first = try #require(await exchanges.next())
        clock.advance(by: .seconds(50))
        first.answer(.serviceUnavailable)
        first.finish()
        let error = await expectTimeout(of: task)
        #expect(error?.isRetryable == false)
        #expect(error?.description.contains("503") == true)
        await loader.coordinator.becomesIdle()
    }

    @Test func totalTimeoutOfTheTransportIsNotRetried() async throws {
        var exchanges = transport.exchanges.makeAsyncIterator()
        let task = loader().dataTask(for: request)
        let first = try #require(await exchanges.next())
        first.fail(.timedOut(.total))
        await expectTimeout(of: task)
    }

    @Test func endlessTransferTimesOutForAllItsCallers() async throws {
        var exchanges = transport.exchanges.makeAsyncIterator()
        let loader = loader()
        let data = loader.dataTask(for: request)
        let image = loader.imageTask(for: request)
        let first = try #require(await exchanges.next())
        await loader.coordinator.callers(reach: 2)
        first.answer(.ok, [:], [1, 2, 3])
        await clock.sleeps(until: .seconds(60))
        clock.advance(by: .seconds(60))
        await expectTimeout(of: data)
        await expectTimeout(of: image)
        await loader.coordinator.becomesIdle()
        #expect(first.isLetGo)
    }

    @Test func totalDeadlineExcludesOnlyTheWaitForTheFirstSlot() async throws {
        var exchanges = transport.exchanges.makeAsyncIterator()
        let loader = loader {
            $0.downloads.maximumConcurrentDownloads = 1
            $0.downloads.deadlines.total = .seconds(100)
        }
        let busy = loader.dataTask(for: ImageRequest("http://example.com/busy"))
        let first = try #require(await exchanges.next())
        let waiting = loader.dataTask(for: request)
        await loader.coordinator.callers(reach: 2)
        clock.advance(by: .seconds(90))
        first.fail(.notCached)
        await #expect(throws: ImageError.self) { try await busy.value }

        let second = try #require(await exchanges.next())
        #expect(second.request.deadlines.total == .seconds(100))
        clock.advance(by: .seconds(5))
        second.fail(.connectionLost)
        await clock.sleeps(until: .seconds(105))
        let other = loader.dataTask(for: ImageRequest("http://example.com/other"))
        let third = try #require(await exchanges.next())
        clock.advance(by: .seconds(10))
        await loader.coordinator.activity { $0.waiting == 1 }
        clock.advance(by: .seconds(85))
        await expectTimeout(of: waiting)
        third.answer(.ok, [:], [1])
        third.finish()
        #expect(try await other.value.bytes == [1])
        await loader.coordinator.becomesIdle()
    }

    private struct Stuck: RequestModifier {
        func modify(_ request: TransportRequest) async throws -> TransportRequest {
            await untilCancelled()
            return request
        }
    }

    @Test func unresponsiveHookTimesOut() async throws {
        let loader = loader { $0.downloads.requestModifier = Stuck() }
        let task = loader.imageTask(for: request)
        await clock.sleeps(until: .seconds(60))
        clock.advance(by: .seconds(60))
        await expectTimeout(of: task)
        await loader.coordinator.becomesIdle()
    }

    @Test func unresponsiveCacheTimesOut() async throws {
        let cache = try ResponseCache.test(nil, ManualTime())
        let held = HeldCache(cache)
        let loader = loader { $0.responseCache = cache }
        let task = loader.dataTask(for: request)
        await clock.sleeps(until: .seconds(60))
        clock.advance(by: .seconds(60))
        await expectTimeout(of: task)
        held.release()
        await loader.coordinator.becomesIdle()
    }

    @Test func lookupTimeCountsTowardTotalDeadline() async throws {
        var exchanges = transport.exchanges.makeAsyncIterator()
        let cache = try ResponseCache.test(nil, ManualTime())
        let held = HeldCache(cache)
        let task = loader { $0.responseCache = cache }.dataTask(for: request)
        await clock.sleeps(until: .seconds(60))
        clock.advance(by: .seconds(20))
        held.release()
        let first = try #require(await exchanges.next())
        #expect(first.request.deadlines.total == .seconds(40))
        first.answer(.ok, [:], [1])
        first.finish()
        #expect(try await task.value.bytes == [1])
    }

    @Test func partialBodyIsKeptAfterTimeout() async throws {
        var exchanges = transport.exchanges.makeAsyncIterator()
        let loader = loader()
        let task = loader.dataTask(for: request)
        let first = try #require(await exchanges.next())
        let half = [UInt8](repeating: 1, count: 50_000)
        first.answer(.ok, [.eTag: "\"v1\"", .contentLength: "100000"], half)
        await clock.sleeps(until: .seconds(60))
        clock.advance(by: .seconds(60))
        await expectTimeout(of: task)

        let again = loader.dataTask(for: request)
        let second = try #require(await exchanges.next())
        #expect(second.request.headerFields[.range] == "bytes=50000-")
        #expect(second.request.deadlines.total == .seconds(60))
        again.cancel()
    }
}
