import Foundation
import HTTPSemantics
import HTTPTransport
import LoopbackOrigin
import TestSupport
import Testing
import Threading

@testable import AsyncWebImage
@testable import ResponseCache

/// Loaders with a cache of responses, end to end.
@Suite(.timeLimit(.minutes(2)))
struct CachedLoadingTests {
    let time = ManualTime()
    let body = (0..<150_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    func loader(_ cache: ResponseCache?, policy: CachePolicy = .useProtocol) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.responseCache = cache
        configuration.cachePolicy = policy
        return ImageLoader(configuration: configuration)
    }

    @Test func signedURLsOfOneImageShareItsStoredResponse() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", .init(headerFields: ["Cache-Control": "max-age=60"], body: body))
            let cache = try ResponseCache(.init(), now: { time.now })
            func load(_ signature: Int, key: String?) async throws -> ResponseSource {
                let request = ImageRequest(origin.url("/a?signature=\(signature)"), cacheKey: key)
                return try await self.load(loader(cache), request).source
            }
            #expect(try await load(1, key: origin.url("/a")) == .network)
            #expect(try await load(2, key: origin.url("/a")) == .responseCacheMemory)
            #expect(try await load(3, key: nil) == .network)
        }
    }

    /// Returns the body after the download has ended, so that the next request cannot join it.
    func load(_ loader: ImageLoader, _ request: ImageRequest) async throws -> ResponseBody {
        let data: Result<ResponseBody, any Error>
        do { data = .success(try await loader.data(for: request)) } catch { data = .failure(error) }
        await loader.coordinator.becomesIdle()
        return try data.get()
    }

    func withCache(
        onDisk: Bool = true, _ body: (LoopbackOrigin, ResponseCache) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await withLoopbackOrigin { origin in
                try await body(origin, try .test(onDisk ? folder : nil, time))
            }
        }
    }

    func files(of cache: ResponseCache) throws -> [String] {
        try cacheFiles(cache.configuration.directory ?? "")
    }

    /// Returns a handler that responds with `body`, or with 304 to a request that has its entity tag.
    func tagged(_ tag: String, _ control: String, _ body: [UInt8])
        -> @Sendable (LoopbackOrigin.Request) -> LoopbackOrigin.Response
    {
        { request in
            let fields: HeaderFields = ["ETag": tag, "Cache-Control": control]
            return request.headerFields["If-None-Match"] == tag
                ? .init(status: 304, headerFields: fields) : .init(headerFields: fields, body: body)
        }
    }

    @Test func cookieRequestsBypassTheResponseCache() async throws {
        try await withCache { origin, cache in
            origin.route("/a", .init(headerFields: ["Cache-Control": "max-age=60"], body: body))
            var request = ImageRequest(origin.url("/a"))
            request.handlesCookies = true
            for _ in 0..<2 {
                let data = try await load(loader(cache), request)
                #expect(data.source == .network)
            }
            #expect(origin.counts.totalRequests == 2)
            request.cachePolicy = .cacheOnly
            let only = request
            await #expect(throws: ImageError.self) { try await load(loader(cache), only) }
            #expect(origin.counts.totalRequests == 2)
        }
    }

    @Test(arguments: [true, false]) func prefetcherStoresImagesInResponseCache(onDisk: Bool) async throws {
        try await withCache(onDisk: onDisk) { origin, cache in
            origin.route("/*", .init(headerFields: ["Cache-Control": "max-age=60"], body: try Samples.file(.png)))
            let loader = loader(cache)
            let requests = (0..<10).map { ImageRequest(origin.url("/\($0).png")) }
            let prefetcher = ImagePrefetcher(loader: loader, destination: .responseCache)
            #expect(await prefetcher.prefetch(requests).result.progress.finished == 10)
            #expect(loader.imageCache.count == 0)
            await loader.coordinator.becomesIdle()
            let image = try await loader.image(for: requests[3])
            #expect(image.source == cache.source)
            #expect(origin.counts.totalRequests == 10)
        }
    }

    @Test(arguments: [true, false]) func freshnessOfAResultCountsTheTimeInTheCache(onDisk: Bool) async throws {
        try await withCache(onDisk: onDisk) { origin, cache in
            origin.route("/a", tagged("\"1\"", "max-age=60", body))
            let loader = loader(cache)
            let first = try await load(loader, ImageRequest(origin.url("/a")))
            let freshness = first.head.freshness(at: time.now)
            #expect(freshness.remaining == .seconds(60) && freshness.isStorable)
            time.advance(by: 40)
            let stored = try await load(loader, ImageRequest(origin.url("/a")))
            #expect(stored.source == cache.source)
            #expect(stored.head.freshness(at: time.now).remaining == .seconds(20))
            #expect(stored.head.freshness(at: time.now + 30).cacheControl() == "max-age=0")
            time.advance(by: 30)
            let confirmed = try await load(loader, ImageRequest(origin.url("/a")))
            #expect(confirmed.source == .revalidated)
            #expect(confirmed.head.freshness(at: time.now).remaining == .seconds(60))
        }
    }

    @Test(arguments: [true, false]) func freshResponsesAreServedWithoutARequest(onDisk: Bool) async throws {
        try await withCache(onDisk: onDisk) { origin, cache in
            origin.route("/a", .init(headerFields: ["Cache-Control": "max-age=60", "X-A": "b"], body: body))
            let loader = loader(cache)
            let first = try await load(loader, ImageRequest(origin.url("/a")))
            #expect(first.source == .network && first.bytes == body)
            time.advance(by: 59)
            let second = try await load(loader, ImageRequest(origin.url("/a")))
            #expect(second.source == (onDisk ? .disk : .responseCacheMemory) && second.bytes == body)
            #expect(second.head.response.headerFields[.age] == "59")
            #expect(second.head.contentLength == body.count)
            #expect(origin.counts.totalRequests == 1)
            await loader.coordinator.becomesIdle()
        }
    }

    @Test(arguments: [true, false]) func staleResponsesAreRenewedByA304(onDisk: Bool) async throws {
        try await withCache(onDisk: onDisk) { origin, cache in
            origin.route("/a", tagged("\"v1\"", "max-age=60", body))
            let loader = loader(cache)
            let request = ImageRequest(origin.url("/a"))
            _ = try await load(loader, request)
            time.advance(by: 61)
            let renewed = try await load(loader, request)
            #expect(renewed.source == .revalidated && renewed.bytes == body && renewed.head.status == .ok)
            time.advance(by: 59)
            #expect(try await load(loader, request).source != .network)
            #expect(origin.counts.totalRequests == 2)
            origin.route("/a", tagged("\"v2\"", "max-age=60", [9]))
            time.advance(by: 2)
            let changed = try await load(loader, request)
            #expect(changed.source == .network && changed.bytes == [9])
            #expect(try await load(loader, request).bytes == [9])
            #expect(origin.counts.totalRequests == 3)
        }
    }

    @Test func imagesAreDecodedFromTheCache() async throws {
        try await withCache { origin, cache in
            let file = try Samples.file(.jpeg, 300, 200)
            origin.route("/a", .init(headerFields: ["Cache-Control": "max-age=60"], body: file))
            var first: PixelBuffer?
            for source in [ResponseSource.network, .disk] {
                let image = try await loader(cache).image(for: ImageRequest(origin.url("/a"), maximumSide: 80))
                #expect(image.source == source)
                if let first { #expect(image.pixels == first) } else { first = image.pixels }
            }
            var frames = 0
            for try await frame in loader(cache).previews(for: ImageRequest(origin.url("/a"))) where frame.isFinal {
                frames += 1
                #expect(frame.response?.source == .disk)
            }
            #expect(frames == 1)
            let info = try await loader(cache).info(for: ImageRequest(origin.url("/a")))
            #expect(info.header.size.width == 300)
            // What is stored is the file, not the scaled image.
            let stored = try await loader(cache).data(for: ImageRequest(origin.url("/a")))
            #expect(stored.bytes == file && stored.source == .disk)
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test(arguments: [true, false]) func readingAHeaderStoresNothingAndReceivesLittle(onDisk: Bool) async throws {
        try await withCache(onDisk: onDisk) { origin, cache in
            let file = try Samples.file(.png) + [UInt8](repeating: 0, count: 4 << 20)
            origin.route("/*", .init(headerFields: ["Cache-Control": "max-age=60", "ETag": "\"a\""], body: file))
            let loader = loader(cache)
            for number in 0..<8 {
                #expect(try await loader.info(for: ImageRequest(origin.url("/\(number)"))).header.size.width == 64)
            }
            await loader.coordinator.becomesIdle()
            await cache.flush()
            #expect(cache.entryCount == 0 && cache.byteCount == 0)
            // A caller that joins changes what is wanted.
            let gate = Gate()
            let response = LoopbackOrigin.Response(headerFields: ["Cache-Control": "max-age=60"], body: file)
            origin.route("/both", response.held(at: .start, until: gate))
            async let info = loader.info(for: ImageRequest(origin.url("/both")))
            await loader.coordinator.callers(reach: 1)
            async let data = loader.data(for: ImageRequest(origin.url("/both")))
            await loader.coordinator.callers(reach: 2)
            gate.open()
            #expect(try await info.header.size.width == 64)
            #expect(try await data.bytes == file)
            await loader.coordinator.becomesIdle()
            #expect(cache.entryCount == 1)
        }
    }

    @Test func cachePolicySelectsSourceOfResponse() async throws {
        try await withCache { origin, cache in
            origin.route("/a", tagged("\"v1\"", "max-age=60", body))
            let loader = loader(cache)
            func source(_ policy: CachePolicy) async throws -> ResponseSource {
                var request = ImageRequest(origin.url("/a"))
                request.cachePolicy = policy
                return try await load(loader, request).source
            }
            let error = await #expect(throws: ImageError.self) { _ = try await source(.cacheOnly) }
            guard case .transport(let cause) = error, cause.reason == .notCached else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(origin.counts.totalRequests == 0)
            let whileFresh: [(CachePolicy, ResponseSource)] = [
                (.noStore, .network), (.cacheElseLoad, .network), (.useProtocol, .disk), (.revalidate, .revalidated),
                (.reload, .network),
            ]
            for (policy, expected) in whileFresh {
                let found = try await source(policy)
                #expect(found == expected, "\(policy)")
            }
            time.advance(by: 1_000)
            let whenStale: [(CachePolicy, ResponseSource)] = [
                (.cacheElseLoad, .disk), (.cacheOnly, .disk), (.useProtocol, .revalidated),
            ]
            for (policy, expected) in whenStale {
                let found = try await source(policy)
                #expect(found == expected, "\(policy)")
            }
            #expect(origin.counts.totalRequests == 5)
        }
    }

    @Test func cacheOnlyRequestFailsWithoutACache() async throws {
        try await withLoopbackOrigin { origin in
            let loader = loader(nil, policy: .cacheOnly)
            await #expect(throws: ImageError.self) { try await load(loader, ImageRequest(origin.url("/a"))) }
            await loader.coordinator.becomesIdle()
            #expect(origin.counts.totalRequests == 0)
        }
    }

    @Test func memoryCacheObeysTheCachePolicy() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: try Samples.file(.png)))
            let loader = loader(nil)
            func source(_ policy: CachePolicy) async throws -> ResponseSource {
                var request = ImageRequest(origin.url("/a"))
                request.cachePolicy = policy
                let source = try await loader.image(for: request).source
                await loader.coordinator.becomesIdle()
                return source
            }
            let expectations: [(CachePolicy, ResponseSource)] = [
                (.noStore, .network), (.useProtocol, .network), (.useProtocol, .imageCache),
                (.cacheElseLoad, .imageCache), (.cacheOnly, .imageCache), (.reload, .network), (.revalidate, .network),
                (.noStore, .network),
            ]
            for (policy, expected) in expectations {
                let found = try await source(policy)
                #expect(found == expected, "\(policy)")
            }
        }
    }

    @Test(
        arguments: [
            .init(headerFields: ["Cache-Control": "no-store"], body: [1, 2]),
            .init(headerFields: ["Cache-Control": "max-age=60", "Vary": "*"], body: [1, 2]),
            .init(headerFields: ["Cache-Control": "max-age=60"], body: [UInt8](repeating: 1, count: 20 << 20)),
            .init(status: 404, headerFields: ["ETag": "\"a\""], body: [1, 2]),
            .init(headerFields: ["Cache-Control": "max-age=60"], body: [1, 2, 3]).cut(at: .body(2)),
            .init(headerFields: ["Cache-Control": "max-age=60"], body: [1, 2, 3], framing: .chunked).cut(at: .body(2)),
        ] as [LoopbackOrigin.Response])
    func unstorableResponsesAreNotStored(response: LoopbackOrigin.Response) async throws {
        try await withCache { origin, cache in
            origin.route("/a", response)
            _ = try? await load(loader(cache), ImageRequest(origin.url("/a")))
            await cache.settles()
            #expect(cache.byteCount == 0)
            let files = try self.files(of: cache)
            #expect(files == [])
        }
    }

    @Test func impossibleCacheFolderIsAnImageError() async throws {
        try await withTemporaryFolder { folder in
            #expect(FileManager.default.createFile(atPath: folder, contents: Data()))
            let error = #expect(throws: ImageError.self) { try ResponseCache(.init(directory: folder)) }
            guard case .unusableCacheFolder(folder, _)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func canceledDownloadStoresNothing() async throws {
        try await withCache { origin, cache in
            origin.route(
                "/a", .init(headerFields: ["Cache-Control": "max-age=60"], body: body).stalled(at: .body(100_000)))
            let loader = loader(cache)
            let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
            await origin.bodyBytesSent(to: "/a", reach: 100_000)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await loader.coordinator.becomesIdle()
            await origin.openConnections(become: 0)
            await cache.settles()
            let files = try self.files(of: cache)
            #expect(files == [])
        }
    }
}
