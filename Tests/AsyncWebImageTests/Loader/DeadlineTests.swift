import Dispatch
import HTTPTransport
import TestSupport
import Testing
import Threading

@testable import AsyncWebImage
@testable import ResponseCache

/// The time within which a request must have its result.
@Suite(.timeLimit(.minutes(1)))
struct DeadlineTests {
    private let transport = ScriptedTransport()
    private let clock = ManualClock()

    private func loader(_ cache: ResponseCache? = nil) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.responseCache = cache
        return ImageLoader(configuration: configuration, transport: transport, clock: clock)
    }

    private func request(_ url: String = "http://a/a", deadline: Duration) -> ImageRequest {
        var request = ImageRequest(url)
        request.deadline = deadline
        return request
    }

    @Test func deadlineEndsOneRequestAndNotTheDownloadOfOthers() async throws {
        let loader = loader()
        let patient = loader.dataTask(for: ImageRequest("http://a/a"))
        let hurried = loader.dataTask(for: request(deadline: .seconds(3)))
        await loader.coordinator.callers(reach: 2)
        var exchanges = transport.exchanges.makeAsyncIterator()
        let exchange = try #require(await exchanges.next())
        await clock.sleeps(until: .seconds(3))
        clock.advance(by: .seconds(3))
        let error = await #expect(throws: ImageError.self) { try await hurried.value }
        #expect(error?.code == .deadline)
        exchange.answer(.ok, [:], [1])
        exchange.finish()
        #expect(try await patient.value.bytes == [1])
        await loader.coordinator.becomesIdle()
    }

    @Test(arguments: [Duration.zero, .seconds(-1)]) func deadlineCanHavePassed(time: Duration) async throws {
        let loader = loader()
        let late = request(deadline: time)
        let error = await #expect(throws: ImageError.self) { try await loader.image(for: late) }
        #expect(error?.code == .deadline)
        await loader.coordinator.becomesIdle()
    }

    @Test func deadlineOfABodyEndsWithItsFirstPiece() async throws {
        let loader = loader()
        let limited = request(deadline: .seconds(3))
        async let opened = loader.bytes(for: limited)
        var exchanges = transport.exchanges.makeAsyncIterator()
        let exchange = try #require(await exchanges.next())
        await clock.sleeps(until: .seconds(3))
        exchange.answer(.ok, [:], [1])
        var pieces = try await opened.makeAsyncIterator()
        clock.advance(by: .seconds(4))
        let first = try await pieces.next()
        exchange.finish()
        let second = try await pieces.next()
        #expect(first == [1] && second == nil)
    }

    @Test func timeThatHasEndedDoesNotPass() async throws {
        let conditions = try #require(Subscriber.Conditions.of(request(deadline: .seconds(3))))
        conditions.startTime(Stopwatch(clock)) { Issue.record("the time has ended before") }
        await clock.sleeps(until: .seconds(3))
        #expect(conditions.endTime())
        clock.advance(by: .seconds(3))
        #expect(conditions.endTime())
    }

    @Test func timeThatHasPassedCannotBeEnded() async throws {
        let conditions = try #require(Subscriber.Conditions.of(request(deadline: .seconds(3))))
        let end = OneShot<Void>()
        conditions.startTime(Stopwatch(clock)) { end.resolve(.success(())) }
        await clock.sleeps(until: .seconds(3))
        clock.advance(by: .seconds(3))
        try await end.value
        #expect(!conditions.endTime())
    }

    /// The header is known, but the thread of the caller is busy.
    @Test func deadlineThatPassesAsABodyOpensIsTheOnlyError() async throws {
        let (loader, executor) = (loader(), SuspendableExecutor())
        let limited = request(deadline: .seconds(3))
        let opened = Task(executorPreference: executor) {
            try await loader.bytes(for: limited, readsHeader: true)
        }
        var exchanges = transport.exchanges.makeAsyncIterator()
        let exchange = try #require(await exchanges.next())
        await clock.sleeps(until: .seconds(3))
        while await !loader.coordinator.hasWaitingReader, !Task.isCancelled { await Task.yield() }
        executor.suspend()
        let before = executor.jobCount
        exchange.answer(.ok, [:], try Samples.file(.png))
        while executor.jobCount == before, !Task.isCancelled { await Task.yield() }
        clock.advance(by: .seconds(3))
        await loader.coordinator.activity { $0.callers == 0 }
        executor.resume()
        let error = await #expect(throws: ImageError.self) { try await opened.value }
        #expect(error?.code == .deadline)
        await loader.coordinator.becomesIdle()
        #expect(exchange.isLetGo)
    }

    // MARK: Stored files

    /// Calls `body` while the threads that read a cache's files wait.
    private func withSlowDisk(_ body: (ImageLoader) async throws -> Void) async throws {
        let cache = try TestStorage.dictionary.cache("", ManualTime())
        let disk = DispatchSemaphore(value: 0)
        for _ in 0..<CacheThreads.count { cache.thread.append(to: .long) { disk.wait() } }
        defer { for _ in 0..<CacheThreads.count { disk.signal() } }
        try await body(loader(cache))
    }

    @Test func deadlineOfAFileIncludesTheWaitForTheDisk() async throws {
        try await withSlowDisk { loader in
            let limited = request(deadline: .seconds(3))
            async let file = loader.file(for: limited, as: OutputRule(.png()))
            let task = loader.fileTask(for: limited, as: OutputRule(.png()))
            await loader.coordinator.callers(reach: 2)
            await clock.sleeps(until: .seconds(3))
            clock.advance(by: .seconds(3))
            await #expect(throws: ImageError.self) { try await task.value }
            do {
                _ = try await file
                Issue.record("there is no file")
            } catch let error as ImageError {
                #expect(error.code == .deadline)
            }
        }
    }

    @Test func canceledFileDoesNotWaitForTheDisk() async throws {
        try await withSlowDisk { loader in
            let file = Task { try await loader.file(for: ImageRequest("http://a/a"), as: OutputRule(.png())) }
            file.cancel()
            await #expect(throws: CancellationError.self) { try await file.value }
        }
    }

    /// The origin confirms another version than that of the stored file, so it is asked once more.
    @Test(arguments: [true, false])
    func callerOfAStaleFileLeavesTheSecondDownloadAsWell(isCanceled: Bool) async throws {
        let time = ManualTime()
        let cache = try TestStorage.memory.cache("", time)
        let loader = loader(cache)
        var exchanges = transport.exchanges.makeAsyncIterator()
        let made = loader.fileTask(for: ImageRequest("http://a/a"), as: OutputRule(.png()))
        let first = try #require(await exchanges.next())
        first.answer(.ok, [.eTag: "\"1\"", .cacheControl: "max-age=60"], try Samples.file(.png))
        first.finish()
        _ = try await made.value
        await loader.coordinator.becomesIdle()
        await cache.removeAll { !$0.isResult }
        time.advance(by: 61)

        let late = loader.fileTask(for: request(deadline: .seconds(10)), as: OutputRule(.png()))
        let second = try #require(await exchanges.next())
        #expect(second.request.headerFields[.ifNoneMatch] == "\"1\"")
        await clock.sleeps(until: .seconds(10))
        clock.advance(by: .seconds(6))
        second.answer(.notModified, [.eTag: "\"2\""])
        second.finish()
        let third = try #require(await exchanges.next())
        #expect(third.request.headerFields[.ifNoneMatch] == nil)
        if isCanceled { late.cancel() } else { clock.advance(by: .seconds(4)) }
        if isCanceled {
            await #expect(throws: CancellationError.self) { try await late.value }
        } else {
            let error = await #expect(throws: ImageError.self) { try await late.value }
            #expect(error?.code == .deadline)
        }
        await loader.coordinator.becomesIdle()
        #expect(third.isLetGo)
    }
}

/// An executor whose jobs a test can hold back.
private final class SuspendableExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "test")
    private let count = Locked(0)

    /// The number of jobs so far.
    var jobCount: Int { count.withLock { $0 } }

    func suspend() { queue.suspend() }
    func resume() { queue.resume() }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        count.withLock { $0 += 1 }
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

extension DownloadCoordinator {
    /// A Boolean value that indicates whether a reader waits for bytes.
    fileprivate var hasWaitingReader: Bool {
        downloads.values.contains { download in download.log.state.withLock { !$0.waits.isEmpty } }
    }
}
