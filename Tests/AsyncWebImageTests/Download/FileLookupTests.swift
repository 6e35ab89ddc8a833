import HTTPTransport
import HTTPTypes
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing
import Threading

@testable import AsyncWebImage
@testable import ResponseCache

/// The response cache is asked once for a file, whatever the number of callers that wait for it.
@Suite(.timeLimit(.minutes(2)))
struct FileLookupTests {
    private let time = ManualTime()
    private let storage = DictionaryStorage()
    private let cache: ResponseCache
    private let loader: ImageLoader

    init() {
        cache = ResponseCache(.init(), storage: storage, now: { [time] in time.now })
        loader = Self.loader(cache)
    }

    private static func loader(_ cache: ResponseCache) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.responseCache = cache
        return ImageLoader(configuration: configuration)
    }

    /// The number of times a file has been looked up.
    private var lookups: Int { storage.openedNames.count { $0.hasSuffix(".res") } }

    private func image(_ control: String, tag: String? = nil) throws -> LoopbackOrigin.Response {
        var fields: HeaderFields = ["Cache-Control": control]
        if let tag { fields.append("ETag", tag) }
        return .init(headerFields: fields, body: try Samples.file(.png))
    }

    private func tasks(_ count: Int, _ url: String, side: Int = 16) -> [LoadTask<ImageFile>] {
        (0..<count).map { _ in loader.fileTask(for: ImageRequest(url, maximumSide: side), as: OutputRule(.png())) }
    }

    private func tags(_ tasks: [LoadTask<ImageFile>]) async throws -> Set<String> {
        var tags: Set<String> = []
        for task in tasks { tags.insert(try await task.value.entityTag) }
        return tags
    }

    @Test func hundredCallersLookTheFileUpOnce() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/image", try image("no-store"))
            let held = HeldCache(cache)
            let tasks = tasks(100, origin.url("/image"))
            await loader.coordinator.callers(reach: 100)
            held.release()
            #expect(try await tags(tasks).count == 1)
            #expect(lookups == 1)
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test func callersOfAFileThatIsBeingMadeLookNothingUp() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            defer { gate.open() }
            origin.route("/image", try image("no-store").held(at: .body(100), until: gate))
            let first = tasks(1, origin.url("/image"))
            await origin.requests(to: "/image", reach: 1)
            let others = tasks(50, origin.url("/image"))
            await loader.coordinator.callers(reach: 51)
            #expect(lookups == 1)
            gate.open()
            #expect(try await tags(first + others).count == 1)
            #expect(lookups == 1)
            await loader.coordinator.becomesIdle()
            #expect(loader.coordinator.activeFiles.withLock(\.isEmpty))
        }
    }

    @Test func filesThatDifferAreLookedUpSeparately() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/image", try image("no-store"))
            let held = HeldCache(cache)
            let tasks = tasks(10, origin.url("/image")) + tasks(10, origin.url("/image"), side: 20)
            await loader.coordinator.callers(reach: 20)
            held.release()
            #expect(try await tags(tasks).count == 2)
            #expect(lookups == 2)
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test func storedFileAnswersAllWhoWait() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/image", try image("max-age=60"))
            let made = try await tags(tasks(1, origin.url("/image")))
            await loader.coordinator.becomesIdle()
            let before = lookups
            let held = HeldCache(cache)
            let tasks = tasks(100, origin.url("/image"))
            await loader.coordinator.callers(reach: 100)
            let progress = tasks[0].progress
            held.release()
            #expect(try await tags(tasks) == made)
            for task in tasks { #expect(try await task.value.source == .disk) }
            for await _ in progress {}
            #expect(lookups == before + 1)
            #expect(origin.counts.totalRequests == 1)
            #expect(await loader.coordinator.activity.callers == 0)
        }
    }

    @Test func staleFileIsConfirmedOnceForAllWhoWait() async throws {
        try await withLoopbackOrigin { origin in
            let image = try image("max-age=60", tag: "\"v1\"")
            origin.route("/image") { request in
                request.headerFields["If-None-Match"] == nil
                    ? image : .init(status: 304, headerFields: ["Cache-Control": "max-age=60"])
            }
            let made = try await tags(tasks(1, origin.url("/image")))
            await loader.coordinator.becomesIdle()
            time.advance(by: 61)
            let held = HeldCache(cache)
            let tasks = tasks(20, origin.url("/image"))
            await loader.coordinator.callers(reach: 20)
            held.release()
            #expect(try await tags(tasks) == made)
            for task in tasks { #expect(try await task.value.source == .revalidated) }
            #expect(origin.counts.totalRequests == 2)
        }
    }

    @Test func cancellationWhileTheFileIsLookedUpConcernsOneCaller() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/image", try image("no-store"))
            let held = HeldCache(cache)
            let tasks = tasks(2, origin.url("/image"))
            await loader.coordinator.callers(reach: 2)
            tasks[0].cancel()
            await #expect(throws: CancellationError.self) { try await tasks[0].value }
            held.release()
            #expect(try await tags([tasks[1]]).count == 1)
        }
    }

    @Test func cancelingAllIncludesThoseWhoWait() async throws {
        let held = HeldCache(cache)
        let tasks = tasks(2, "http://example.com/image")
        await loader.coordinator.callers(reach: 2)
        await loader.coordinator.cancelAll()
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        held.release()
        await loader.coordinator.becomesIdle()
    }

    @Test func priorityThatIsSetMeanwhileApplies() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/stalled", Response().stalled(at: .start))
            origin.route("/image", try image("no-store"))
            await loader.coordinator.configure { $0.maximumConcurrentDownloads = 1 }
            let stalled = loader.dataTask(for: ImageRequest(origin.url("/stalled")))
            await origin.requests(to: "/stalled", reach: 1)
            let held = HeldCache(cache)
            let tasks = tasks(1, origin.url("/image"))
            await loader.coordinator.callers(reach: 2)
            tasks[0].priority = .high
            held.release()
            await loader.coordinator.activity { $0.waitingByPriority == [.high: 1] }
            stalled.cancel()
            #expect(try await tags(tasks).count == 1)
        }
    }

    private typealias Response = LoopbackOrigin.Response
}
