import HTTPTransport
import Testing
import Threading

@testable import AsyncWebImage

/// The total memory of large bodies that arrive at the same time is bounded, and all of them are delivered.
@Suite(.timeLimit(.minutes(1)))
struct BodyMemoryTests {
    private static let limit = 1 << 20
    private static let slots = 16
    private let piece = [UInt8](repeating: 7, count: 16 << 10)
    private let transport = ScriptedTransport()

    private func loader(
        clock: any Clock<Duration> = ContinuousClock(), _ change: (inout DownloadConfiguration) -> Void = { _ in }
    ) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.maximumConcurrentDownloads = Self.slots
        configuration.downloads.maximumConcurrentDownloadsPerHost = Self.slots
        configuration.downloads.maximumConnectionsPerHost = Self.slots
        configuration.downloads.maximumBytesInFlight = Self.limit
        configuration.downloads.maximumResumableBytes = 0
        change(&configuration.downloads)
        return ImageLoader(configuration: configuration, transport: transport, clock: clock)
    }

    private func url(_ number: Int) -> String { "http://example.com/\(number)" }

    /// Starts `count` downloads and returns their tasks and transfers.
    private func start(
        _ count: Int, _ loader: ImageLoader
    ) async throws -> [(task: LoadTask<ResponseBody>, exchange: ScriptedTransport.Exchange)] {
        var exchanges = transport.exchanges.makeAsyncIterator()
        var started: [(task: LoadTask<ResponseBody>, exchange: ScriptedTransport.Exchange)] = []
        for number in 0..<count {
            let task = loader.dataTask(for: ImageRequest(url(number)))
            let exchange = try #require(await exchanges.next())
            exchange.answer(.ok, [.eTag: "\"a\""])
            started.append((task, exchange))
        }
        _ = await loader.coordinator.activity
        return started
    }

    /// Sends pieces until one waits; returns how many were taken.
    private func fill(_ exchange: ScriptedTransport.Exchange) -> Int {
        var count = 0
        while !Task.isCancelled, exchange.offer(piece) { count += 1 }
        return count
    }

    @Test func largeBodiesHoldAtMostTwiceTheLimitPlusOneBody() async throws {
        let loader = loader()
        let started = try await start(Self.slots, loader)
        let bytes = await loader.coordinator.bytesInFlight
        let pieces = 100
        let bound = 2 * Self.limit + (pieces + Self.slots) * piece.count
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (task, exchange) in started {
                group.addTask { [piece] in
                    for _ in 0..<pieces {
                        #expect(await exchange.send(piece))
                        #expect(bytes.count <= bound)
                    }
                    exchange.finish()
                    let data = try await task.value
                    #expect(data.bytes.count == pieces * piece.count)
                }
            }
            try await group.waitForAll()
        }
        await loader.coordinator.becomesIdle()
    }

    @Test func onlyOneLargeBodyGrowsBeyondItsShareAtATime() async throws {
        let loader = loader()
        let started = try await start(3, loader)
        // The first body alone fills the memory and continues beyond it.
        for _ in 0..<200 { #expect(started[0].exchange.offer(piece)) }
        // Each of the other two receives its share.
        let share = fill(started[1].exchange)
        #expect(share == Self.limit / 2 / Self.slots / piece.count)
        #expect(fill(started[2].exchange) == share)
        #expect(started[0].exchange.offer(piece))

        started[0].exchange.finish()
        #expect(try await started[0].task.value.bytes.count == 201 * piece.count)
        await started[1].exchange.goesOn()
        await started[2].exchange.goesOn()
        for (task, exchange) in started[1...] {
            exchange.finish()
            #expect(try await task.value.bytes.count == share * piece.count)
        }
        await loader.coordinator.becomesIdle()
    }

    @Test func cancelingTheGrowingBodyLetsTheNextOneGrow() async throws {
        let loader = loader()
        let started = try await start(3, loader)
        for (_, exchange) in started { for _ in 0..<32 { #expect(exchange.offer(piece)) } }
        #expect(started[1].exchange.offer(piece))
        #expect(!started[2].exchange.offer(piece) && !started[0].exchange.offer(piece))

        started[1].task.cancel()
        await #expect(throws: CancellationError.self) { try await started[1].task.value }
        // The memory held equals the limit, so only the older of the two can grow.
        await started[0].exchange.goesOn()
        #expect(started[0].exchange.offer(piece))
        #expect(started[2].exchange.isPaused)
        started[0].task.cancel()
        await started[2].exchange.goesOn()
        #expect(started[2].exchange.offer(piece))
        started[2].exchange.finish()
        #expect(try await started[2].task.value.bytes.count == 33 * piece.count)
        await loader.coordinator.becomesIdle()
    }

    @Test func failureOfTheGrowingBodyLetsTheNextOneGrow() async throws {
        let clock = ManualClock()
        let loader = loader(clock: clock) { $0.retry = ExponentialBackoff(maximumAttempts: 2) }
        let started = try await start(2, loader)
        for (_, exchange) in started { for _ in 0..<48 { #expect(exchange.offer(piece)) } }
        #expect(started[0].exchange.offer(piece))
        #expect(!started[1].exchange.offer(piece))
        started[0].exchange.fail(.connectionLost)
        await started[1].exchange.goesOn()
        #expect(started[1].exchange.offer(piece))
        #expect(await loader.coordinator.bytesInFlight.count == 49 * piece.count)

        _ = await clock.nextSleep()
        clock.advance(by: .seconds(100))
        var exchanges = transport.exchanges.makeAsyncIterator()
        let again = try #require(await exchanges.next())
        #expect(again.request.headerFields[.range] == nil)
        again.answer(.ok, [:], [1, 2, 3])
        again.finish()
        #expect(try await started[0].task.value.bytes == [1, 2, 3])
        started[1].task.cancel()
        await loader.coordinator.becomesIdle()
    }

    @Test func bodyDiscardedAfterRetryWithoutResponseIsRequestedFromItsBeginning() async throws {
        let clock = ManualClock()
        let loader = loader(clock: clock) { $0.retry = ExponentialBackoff(maximumAttempts: 3) }
        let started = try await start(2, loader)
        var exchanges = transport.exchanges.makeAsyncIterator()
        for _ in 0..<48 { #expect(started[0].exchange.offer(piece)) }
        started[0].exchange.fail(.connectionLost)
        await loader.coordinator.activity { $0.backingOff == 1 }
        clock.advance(by: .seconds(100))
        let second = try #require(await exchanges.next())
        #expect(second.request.headerFields[.range] == "bytes=786432-")

        // Now the other body needs the memory.
        for _ in 0..<50 { #expect(started[1].exchange.offer(piece)) }
        second.fail(.connectionLost)
        await loader.coordinator.activity { $0.backingOff == 1 }
        #expect(await loader.coordinator.bytesInFlight.count == 50 * piece.count)
        started[1].exchange.finish()
        #expect(try await started[1].task.value.bytes.count == 50 * piece.count)
        clock.advance(by: .seconds(100))
        let third = try #require(await exchanges.next())
        #expect(third.request.headerFields[.range] == nil)
        third.answer(.ok, [:], [1, 2, 3])
        third.finish()
        #expect(try await started[0].task.value.bytes == [1, 2, 3])
        await loader.coordinator.becomesIdle()
    }

    @Test func downloadStartsWhileTheOnlyBodyInMemoryWaitsForItsRetry() async throws {
        let clock = ManualClock()
        let loader = loader(clock: clock) { $0.retry = ExponentialBackoff(maximumAttempts: 2) }
        let started = try await start(1, loader)
        var exchanges = transport.exchanges.makeAsyncIterator()
        for _ in 0..<70 { #expect(started[0].exchange.offer(piece)) }
        started[0].exchange.fail(.connectionLost)
        await loader.coordinator.activity { $0.backingOff == 1 }
        #expect(await !loader.coordinator.bytesInFlight.hasCapacity)

        let task = loader.dataTask(for: ImageRequest(url(1)))
        let exchange = try #require(await exchanges.next())
        #expect(exchange.request.url.string == url(1))
        exchange.answer(.ok, [:], [1, 2, 3])
        exchange.finish()
        #expect(try await task.value.bytes == [1, 2, 3])
        started[0].task.cancel()
        await loader.coordinator.becomesIdle()
    }

    @Test func callerJoiningPausedBodyReceivesAllOfIt() async throws {
        let loader = loader()
        let started = try await start(2, loader)
        for (_, exchange) in started { for _ in 0..<48 { #expect(exchange.offer(piece)) } }
        #expect(started[0].exchange.offer(piece) && !started[1].exchange.offer(piece))
        let late = loader.dataTask(for: ImageRequest(url(1)))
        await loader.coordinator.callers(reach: 3)
        #expect(started[1].exchange.isPaused)
        started[1].task.cancel()
        started[0].exchange.finish()
        await started[1].exchange.goesOn()
        #expect(started[1].exchange.offer(piece))
        started[1].exchange.finish()
        #expect(try await late.value.bytes.count == 49 * piece.count)
        await loader.coordinator.becomesIdle()
    }

    @Test func smallBodiesOvertakePausedLargeBodies() async throws {
        let loader = loader()
        let started = try await start(Self.slots, loader)
        for (_, exchange) in started[..<2] { for _ in 0..<48 { #expect(exchange.offer(piece)) } }
        #expect(started[0].exchange.offer(piece) && !started[1].exchange.offer(piece))
        for (task, exchange) in started[2...] {
            #expect(exchange.offer(piece))
            exchange.finish()
            #expect(try await task.value.bytes == piece)
        }
        #expect(started[1].exchange.isPaused)
        for (task, _) in started[..<2] { task.cancel() }
        await loader.coordinator.becomesIdle()
    }

    // MARK: Bodies that are decoded

    private final class Probe: Transfer {
        let resumes = Locked(0)
        func cancel() {}
        func resume() { resumes.withLock { $0 += 1 } }
    }

    /// Returns a log whose body is decoded, its transfer, and a log that holds much memory.
    private func logs(maximumReplayBytes: Int) -> (read: BodyLog, transfer: Probe, large: BodyLog, bytes: BytesInFlight)
    {
        let bytes = BytesInFlight(limit: 1 << 20, transfers: 4)
        let read = BodyLog(maximumReplayBytes: maximumReplayBytes, bytesInFlight: bytes)
        let transfer = Probe()
        read.attach(transfer)
        return (read, transfer, BodyLog(maximumReplayBytes: maximumReplayBytes, bytesInFlight: bytes), bytes)
    }

    @Test(arguments: [0, 4 << 20])
    func bodyBeingReadContinuesWhileOthersHoldTheMemory(maximumReplayBytes: Int) async throws {
        let (read, transfer, large, bytes) = logs(maximumReplayBytes: maximumReplayBytes)
        let reader = try #require(read.makeReader())
        for _ in 0..<100 { #expect(large.append(piece.span) == .more) }
        for round in 0..<10 {
            while read.append(piece.span) == .more {}
            #expect(bytes.count <= 100 * piece.count + (1 << 17))
            #expect(transfer.resumes.withLock { $0 } == round)
            #expect(try await reader.next()?.isEmpty == false)
            #expect(transfer.resumes.withLock { $0 } == round + 1)
        }
        // A caller that joins now would miss the beginning.
        #expect(read.makeReader() == nil)
    }

    @Test func bodyWithSlowReadersDoesNotDelayOtherBodies() throws {
        let (read, _, large, _) = logs(maximumReplayBytes: 0)
        let reader = try #require(read.makeReader())
        for _ in 0..<90 { #expect(large.append(piece.span) == .more) }
        while read.append(piece.span) == .more {}
        for _ in 0..<100 { #expect(large.append(piece.span) == .more) }
        withExtendedLifetime(reader) {}
    }

    @Test func suspendedReaderDoesNotDelayOthersOfItsBody() async throws {
        let (read, _, large, _) = logs(maximumReplayBytes: 0)
        let suspended = try #require(read.makeReader())
        let reader = try #require(read.makeReader())
        suspended.suspendReading()
        for _ in 0..<90 { #expect(large.append(piece.span) == .more) }
        for _ in 0..<50 {
            #expect(read.append(piece.span) == .more)
            _ = try await reader.next()
        }
        #expect(large.append(piece.span) == .pause)
        withExtendedLifetime(suspended) {}
    }
}
