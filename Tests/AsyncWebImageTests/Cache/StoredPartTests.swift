import Foundation
import HTTPTransport
import LoopbackOrigin
import TestSupport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// The received part of an interrupted body is stored, and the next request continues it (RFC 9111, sections 3.3 and
/// 3.4).
@Suite(.timeLimit(.minutes(2)))
struct StoredPartTests {
    static let length = 300_000
    static let beginning = 200_000

    let time = ManualTime()
    let file = RangedFile(body: (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    func loader(
        _ cache: ResponseCache, policy: CachePolicy = .useProtocol,
        _ change: (inout DownloadConfiguration) -> Void = { _ in }
    ) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.responseCache = cache
        configuration.cachePolicy = policy
        change(&configuration.downloads)
        return ImageLoader(configuration: configuration)
    }

    /// Returns the body after the download has ended and everything has been written.
    func load(_ loader: ImageLoader, _ cache: ResponseCache, _ url: String) async throws -> ResponseBody {
        let data: Result<ResponseBody, any Error>
        do { data = .success(try await loader.data(for: ImageRequest(url))) } catch { data = .failure(error) }
        await loader.coordinator.becomesIdle()
        await cache.settles()
        return try data.get()
    }

    /// Returns the body from a new loader with a new cache, as in another process.
    func load(
        _ folder: String, _ url: String, policy: CachePolicy = .useProtocol, maximumBytes: Int = 64 << 20
    ) async throws -> ResponseBody {
        let cache = try ResponseCache.test(folder, time, maximumBytes: maximumBytes)
        return try await load(loader(cache, policy: policy), cache, url)
    }

    /// Calls `body` with an origin, and a folder in which the beginning of `/a` is stored unless `first` cannot be
    /// stored.
    func withBeginning(
        _ first: LoopbackOrigin.Response? = nil, at point: Int = beginning, maximumBytes: Int = 64 << 20,
        _ body: (LoopbackOrigin, String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await withLoopbackOrigin { origin in
                origin.route("/a") { [file] request in
                    guard request.ordinal == 1 else { return file.response(to: request) }
                    return (first ?? file.response(to: request)).cut(at: .body(point))
                }
                await #expect(throws: ImageError.self) {
                    try await load(folder, origin.url("/a"), maximumBytes: maximumBytes)
                }
                try await body(origin, folder)
            }
        }
    }

    /// Interrupts only the first response for `/a`.
    func interruptOnce(_ origin: LoopbackOrigin) {
        origin.route("/a") { [file] request in
            let response = file.response(to: request)
            return request.ordinal == 1 ? response.cut(at: .body(Self.beginning)) : response
        }
    }

    func files(_ folder: String) throws -> [String] {
        try cacheFiles(folder)
    }

    func kinds(_ folder: String) throws -> [EntryKind?] {
        try files(folder).map { path in path.split(separator: "/").last.flatMap { ResponseStorageKey(String($0))?.kind }
        }
    }

    /// Returns the ranges of the requests for `/a`.
    func ranges(_ origin: LoopbackOrigin) -> [String?] {
        origin.recordedRequests(to: "/a").map { $0.headerFields["Range"] }
    }

    @Test func nextRequestResumesPartialBodyFromDisk() async throws {
        try await withBeginning { origin, folder in
            #expect(try kinds(folder) == [.part])
            let data = try await load(folder, origin.url("/a"))
            #expect(data.bytes == file.body && data.source == .network)
            #expect(data.head.status == .ok && data.head.contentLength == Self.length)
            #expect(data.head.response.headerFields[.contentRange] == nil)
            #expect(data.metrics.bodyBytes == Self.length - Self.beginning)
            #expect(ranges(origin) == [nil, "bytes=200000-"])
            #expect(origin.recordedRequests(to: "/a").last?.headerFields["If-Range"] == "\"v1\"")
            #expect(try kinds(folder) == [.whole])
            #expect(try await load(folder, origin.url("/a"), policy: .cacheOnly).bytes == file.body)
        }
    }

    @Test(arguments: [TestStorage.memory, .dictionary])
    func storagesWithoutFilesKeepPartialBodies(storage: TestStorage) async throws {
        try await withLoopbackOrigin { origin in
            interruptOnce(origin)
            let cache = try storage.cache("", time)
            await #expect(throws: ImageError.self) { try await load(loader(cache), cache, origin.url("/a")) }
            #expect(cache.byteCount > Self.beginning)
            #expect(try await load(loader(cache), cache, origin.url("/a")).bytes == file.body)
            #expect(ranges(origin) == [nil, "bytes=200000-"])
            let offline = try await load(loader(cache, policy: .cacheOnly), cache, origin.url("/a"))
            #expect(offline.bytes == file.body)
            #expect(cache.byteCount < Self.length + 1_000)
        }
    }

    @Test func partialBodyGrowsOverSeveralRequests() async throws {
        try await withBeginning { origin, folder in
            origin.route("/a") { [file] request in
                let response = file.response(to: request)
                return request.ordinal < 4 ? response.cut(at: .body(20_000)) : response
            }
            for _ in 0..<2 {
                await #expect(throws: ImageError.self) { try await load(folder, origin.url("/a")) }
                #expect(try kinds(folder) == [.part])
            }
            let data = try await load(folder, origin.url("/a"))
            #expect(data.bytes == file.body)
            #expect(ranges(origin) == [nil, "bytes=200000-", "bytes=220000-", "bytes=240000-"])
            #expect(try await load(folder, origin.url("/a"), policy: .cacheOnly).bytes == file.body)
        }
    }

    @Test func resumedResponseIsStoredWithFieldsOf206() async throws {
        try await withBeginning { origin, folder in
            time.advance(by: 1_000)
            origin.route("/a") { [file] request in
                var response = file.response(to: request)
                response.headerFields.append("Cache-Control", "max-age=60")
                return response
            }
            _ = try await load(folder, origin.url("/a"))
            let fresh = try await load(folder, origin.url("/a"))
            #expect(fresh.source == .disk && fresh.bytes == file.body)
            #expect(ranges(origin).count == 2)
        }
    }

    @Test func largeImageResumesFromDiskOnly() async throws {
        let image = RangedFile(body: try Samples.file(.png, 400, 300))
        let half = image.body.count / 2
        try #require(half > Resumption.minimumBytes)
        try await withTemporaryFolder { folder in
            try await withLoopbackOrigin { origin in
                origin.route("/a") { request in
                    let response = image.response(to: request)
                    return request.ordinal == 1 ? response.cut(at: .body(half)) : response
                }
                for attempt in 1...2 {
                    let cache = try ResponseCache.test(folder, time)
                    let loader = loader(cache) {
                        $0.maximumReplayBytes = 4_096
                        $0.maximumResumableBytes = 0
                    }
                    if attempt == 1 {
                        await #expect(throws: ImageError.self) {
                            try await loader.image(for: ImageRequest(origin.url("/a")))
                        }
                    } else {
                        let response = try await loader.image(for: ImageRequest(origin.url("/a")))
                        #expect(response.pixels == Samples.picture(400, 300) && response.byteCount == image.body.count)
                    }
                    await loader.coordinator.becomesIdle()
                    await cache.settles()
                }
                #expect(ranges(origin) == [nil, "bytes=\(half)-"])
                #expect(try await load(folder, origin.url("/a"), policy: .cacheOnly).bytes == image.body)
            }
        }
    }

    @Test func retriedDownloadIsStoredAsWholeBody() async throws {
        try await withTemporaryFolder { folder in
            try await withLoopbackOrigin { origin in
                interruptOnce(origin)
                let cache = try ResponseCache.test(folder, time)
                let loader = loader(cache) { $0.retry = ExponentialBackoff(base: .zero) }
                #expect(try await load(loader, cache, origin.url("/a")).bytes == file.body)
                #expect(ranges(origin) == [nil, "bytes=200000-"])
                #expect(try kinds(folder) == [.whole])
                #expect(try await load(folder, origin.url("/a"), policy: .cacheOnly).bytes == file.body)
            }
        }
    }

    @Test func resumptionFromMemoryCompletesPartialBodyOnDisk() async throws {
        try await withTemporaryFolder { folder in
            try await withLoopbackOrigin { origin in
                interruptOnce(origin)
                let cache = try ResponseCache.test(folder, time)
                let loader = loader(cache)
                await #expect(throws: ImageError.self) { try await load(loader, cache, origin.url("/a")) }
                #expect(try await load(loader, cache, origin.url("/a")).bytes == file.body)
                #expect(ranges(origin) == [nil, "bytes=200000-"])
                #expect(try await load(folder, origin.url("/a"), policy: .cacheOnly).bytes == file.body)
            }
        }
    }

    @Test func partialBodyOfCanceledDownloadIsKept() async throws {
        try await withTemporaryFolder { folder in
            try await withLoopbackOrigin { origin in
                origin.route("/a") { [file] request in
                    let response = file.response(to: request)
                    return request.ordinal == 1 ? response.stalled(at: .body(Self.beginning)) : response
                }
                let cache = try ResponseCache.test(folder, time)
                let loader = loader(cache)
                let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
                await loader.coordinator.activity { $0.bytesInFlight >= Self.beginning }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                await loader.coordinator.becomesIdle()
                await origin.openConnections(become: 0)
                await cache.settles()
                #expect(try await load(folder, origin.url("/a")).bytes == file.body)
                #expect(ranges(origin) == [nil, "bytes=200000-"])
            }
        }
    }

    @Test func shutdownStoresPartialBody() async throws {
        try await withTemporaryFolder { folder in
            try await withLoopbackOrigin { origin in
                origin.route("/a") { [file] in file.response(to: $0).stalled(at: .body(Self.beginning)) }
                let loader = loader(try ResponseCache.test(folder, time))
                let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
                await loader.coordinator.activity { $0.bytesInFlight >= Self.beginning }
                await loader.shutdown(gracePeriod: .zero)
                #expect(try kinds(folder) == [.part])
                await #expect(throws: ImageError.self) { try await task.value }
            }
        }
    }

    @Test func twoLoadersResumeSamePartialBodyAndOneStores() async throws {
        try await withBeginning { origin, folder in
            let gate = Gate()
            origin.route("/a") { [file] request in
                file.response(to: request).held(at: .start, until: gate)
            }
            async let first = load(folder, origin.url("/a"))
            async let second = load(folder, origin.url("/a"))
            await origin.requests(to: "/a", reach: 3)
            gate.open()
            let bodies = try await [first.bytes, second.bytes]
            #expect(bodies == [file.body, file.body])
            #expect(ranges(origin) == [nil, "bytes=200000-", "bytes=200000-"])
            #expect(try kinds(folder) == [.whole])
            #expect(try await load(folder, origin.url("/a"), policy: .cacheOnly).bytes == file.body)
        }
    }
}
