import HTTPTransport
import HTTPTypes
import LoopbackOrigin
import ResponseCache
import Testing

@testable import AsyncWebImage

/// The settings of a single request.
@Suite(.timeLimit(.minutes(1)))
struct RequestOptionsTests {
    private func request(_ url: String, _ transfer: TransferOptions) -> ImageRequest {
        var request = ImageRequest(url)
        request.transfer = transfer
        return request
    }

    @Test func settingsOfARequestReplaceThoseOfTheLoader() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png)
            origin.route("/a", .init(headerFields: ["Content-Type": "image/png"], body: file))
            origin.route("/moved", .init(status: 302, headerFields: ["Location": "/a"]))
            origin.route("/busy", .init(status: 503))
            let loader = ImageLoader(configuration: .patient)
            func code(_ path: String, _ transfer: TransferOptions) async -> ImageError.Code? {
                await #expect(throws: ImageError.self) {
                    try await loader.data(for: request(origin.url(path), transfer))
                }?.code
            }
            #expect(await code("/a", TransferOptions(maximumBodyBytes: file.count - 1)) == .tooManyBytes)
            #expect(await code("/a", TransferOptions(maximumBodyBytes: -1)) == .tooManyBytes)
            #expect(await code("/a", TransferOptions(acceptedContentTypes: ["image/jpeg"])) == .unacceptableType)
            #expect(await code("/moved", TransferOptions(maximumRedirects: 0)) == .redirects)
            #expect(await code("/moved", TransferOptions(maximumRedirects: -3)) == .redirects)
            let before = origin.counts.totalRequests
            #expect(await code("/busy", TransferOptions(retry: ExponentialBackoff(maximumAttempts: 1))) == .status(503))
            #expect(origin.counts.totalRequests == before + 1)
            let all = TransferOptions(
                maximumBodyBytes: file.count, acceptedContentTypes: ["IMAGE/*"], maximumRedirects: 1)
            #expect(try await loader.data(for: request(origin.url("/moved"), all)).bytes == file)
        }
    }

    @Test func requestsWithOtherSettingsShareNoDownloadButImagesAndResponses() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png)
            let gate = Gate()
            let response = LoopbackOrigin.Response(headerFields: ["Cache-Control": "max-age=60"], body: file)
            origin.route("/a", response.held(at: .start, until: gate))
            var configuration = ImageLoader.Configuration.patient
            configuration.responseCache = try ResponseCache(ResponseCache.Configuration())
            let loader = ImageLoader(configuration: configuration)
            let limited = request(origin.url("/a"), TransferOptions(maximumBodyBytes: file.count))
            let tasks = [loader.dataTask(for: ImageRequest(origin.url("/a"))), loader.dataTask(for: limited)]
            await loader.coordinator.callers(reach: 2)
            gate.open()
            for task in tasks { #expect(try await task.value.source == .network) }
            await loader.coordinator.becomesIdle()
            #expect(origin.counts.totalRequests == 2)
            #expect(try await loader.image(for: limited).source == .responseCacheMemory)
            #expect(try await loader.image(for: ImageRequest(origin.url("/a"))).source == .imageCache)
            let small = request(origin.url("/a"), TransferOptions(maximumBodyBytes: 1))
            let error = await #expect(throws: ImageError.self) { try await loader.data(for: small) }
            #expect(error?.code == .tooManyBytes)
        }
    }

    // MARK: Fallbacks

    @Test func fallbackURLsAreRequestedInTurn() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png)
            origin.route("/missing", .init(status: 404))
            origin.route("/page", .init(body: Array("<html></html>".utf8)))
            origin.route("/a", .init(body: file))
            let loader = ImageLoader(configuration: .patient)
            var request = ImageRequest(origin.url("/missing"))
            request.fallbackURLs = ["not a URL", origin.url("/page"), origin.url("/a"), origin.url("/never")]
            #expect(try await loader.image(for: request).head.url.string == origin.url("/a"))
            #expect(origin.counts.totalRequests == 3)
            // Any file is data.
            #expect(try await loader.data(for: request).head.url.string == origin.url("/page"))
            #expect(try await loader.info(for: request).header.size.width == 64)
            request.fallbackURLs = [origin.url("/page")]
            let broken = request
            let error = await #expect(throws: ImageError.self) { try await loader.image(for: broken) }
            #expect(error?.code == .notAnImage && error?.url == origin.url("/page"))
        }
    }

    @Test func handlesRequestFallbackURLsInTurn() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png)
            let gate = Gate()
            defer { gate.open() }
            origin.route("/missing", .init(status: 404))
            origin.route("/a", LoopbackOrigin.Response(body: file).held(at: .body(100), until: gate))
            let loader = ImageLoader(configuration: .patient)
            var request = ImageRequest(origin.url("/missing"))
            request.fallbackURLs = ["not a URL", origin.url("/a")]
            let task = loader.imageTask(for: request)
            task.priority = .high
            var received = 0
            for await progress in task.progress {
                // The first bytes are those of the fallback URL, which waits.
                if received == 0, progress.received > 0 {
                    #expect(task.head?.url.string == origin.url("/a"))
                    #expect(await loader.coordinator.activity.running == 1)
                    gate.open()
                }
                received = progress.received
            }
            #expect(received == file.count && task.priority == .high)
            let image = try await task.value
            #expect(image.head.url.string == origin.url("/a") && task.request == request)
            let thumbnail = try await loader.fileTask(for: request, as: OutputRule(.png())).value
            #expect(thumbnail.head.url.string == origin.url("/a"))
            request.fallbackURLs = ["not a URL"]
            let broken = loader.infoTask(for: request)
            let error = await #expect(throws: ImageError.self) { try await broken.value }
            #expect(error?.code == .invalidURL)
        }
    }

    @Test func canceledHandleRequestsNoFurtherURL() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            defer { gate.open() }
            origin.route("/missing", LoopbackOrigin.Response(status: 404).held(at: .start, until: gate))
            let loader = ImageLoader(configuration: .patient)
            var request = ImageRequest(origin.url("/missing"))
            request.fallbackURLs = [origin.url("/a")]
            let task = loader.dataTask(for: request)
            await origin.requests(to: "/missing", reach: 1)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            gate.open()
            await loader.coordinator.becomesIdle()
            for await _ in task.progress {}
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test func fallbackOfAnotherOriginGetsNoSecrets() async throws {
        let transport = ScriptedTransport()
        let loader = ImageLoader(configuration: .patient, transport: transport)
        var request = ImageRequest(
            "http://a/a", headerFields: [.authorization: "x", .ifNoneMatch: "\"1\""], credential: .bearer("x"))
        request.fallbackURLs = ["http://a/b", "http://b/a"]
        let secret = request
        async let data = loader.data(for: secret)
        var exchanges = transport.exchanges.makeAsyncIterator()
        for host in ["a", "a", "b"] {
            let exchange = try #require(await exchanges.next())
            let isKnown = host == "a"
            #expect(exchange.request.url.host == host && (exchange.request.credential != nil) == isKnown)
            #expect((exchange.request.headerFields[.authorization] != nil) == isKnown)
            let isFirst = exchange.request.url.string == "http://a/a"
            #expect((exchange.request.headerFields[.ifNoneMatch] != nil) == isFirst)
            exchange.answer(isKnown ? .notFound : .ok, [:], [1])
            exchange.finish()
        }
        #expect(try await data.bytes == [1])
    }

    @Test func fallbackWithTheSameKeyIsNotAnsweredByAStoredFailure() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/missing", .init(status: 404, headerFields: ["Cache-Control": "max-age=60"]))
            origin.route("/a", .init(body: [1]))
            var configuration = ImageLoader.Configuration.patient
            configuration.responseCache = try ResponseCache(ResponseCache.Configuration())
            let loader = ImageLoader(configuration: configuration)
            var request = ImageRequest(origin.url("/missing"), cacheKey: "photo")
            request.fallbackURLs = [origin.url("/missing?b"), origin.url("/a")]
            #expect(try await loader.data(for: request).bytes == [1])
            await loader.coordinator.becomesIdle()
            #expect(origin.counts.totalRequests == 3)
        }
    }

    @Test func policyAndCancellationHaveNoFallback() async throws {
        var configuration = ImageLoader.Configuration.patient
        configuration.transport.policy = .publicInternetOnly
        let loader = ImageLoader(configuration: configuration)
        var request = ImageRequest("http://127.0.0.1/a")
        request.fallbackURLs = ["http://10.0.0.1/b"]
        let refused = request
        let error = await #expect(throws: ImageError.self) { try await loader.data(for: refused) }
        #expect(error?.code == .policy && error?.url == "http://127.0.0.1/a")
    }

    // MARK: Caches

    @Test func ruleOfTheLoaderGivesSignedURLsOneKey() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", .init(body: try Samples.file(.png)))
            var configuration = ImageLoader.Configuration.patient
            configuration.cacheKeyRule = { url in
                url.contains("signature=") ? url.split(separator: "?").first.map(String.init) : nil
            }
            let loader = ImageLoader(configuration: configuration)
            func source(_ path: String) async throws -> ResponseSource {
                try await loader.image(for: ImageRequest(origin.url(path))).source
            }
            #expect(try await source("/a?signature=1") == .network)
            #expect(try await source("/a?signature=2") == .imageCache)
            #expect(try await source("/a?size=2") == .network)
            let own = ImageRequest(origin.url("/a?signature=3"), cacheKey: "own")
            #expect(try await loader.image(for: own).source == .network)
        }
    }

    @Test func imagesOfAllSizesAreFoundAndRemoved() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", .init(headerFields: ["Cache-Control": "max-age=60"], body: try Samples.file(.png)))
            var configuration = ImageLoader.Configuration.patient
            let cache = try ResponseCache(ResponseCache.Configuration())
            configuration.responseCache = cache
            let loader = ImageLoader(configuration: configuration)
            let url = origin.url("/a")
            for side in [16, 64, 32] { _ = try await loader.image(for: url, maximumSide: side) }
            _ = try await loader.image(for: origin.url("/b"), maximumSide: 16)
            var request = ImageRequest(url, priority: .low, cachePolicy: .reload)
            #expect(loader.cachedImages(for: request).map(\.pixels.size.width) == [64, 32, 16])
            #expect(loader.cachedImages(for: ImageRequest("nowhere")).isEmpty)
            #expect(loader.imageCache.count == 4)
            request.transfer = TransferOptions(maximumRedirects: 1)
            await loader.remove(request)
            await loader.remove(ImageRequest("nowhere"))
            #expect(loader.cachedImages(for: request).isEmpty && loader.imageCache.count == 1)
            #expect(await !cache.contains(url))
            #expect(await cache.contains(origin.url("/b")))
        }
    }

    @Test func requestsOfSeveralUsersAreRemovedSeparately() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", .init(headerFields: ["Cache-Control": "max-age=60"], body: [1]))
            var configuration = ImageLoader.Configuration.patient
            let cache = try ResponseCache(ResponseCache.Configuration())
            configuration.responseCache = cache
            let loader = ImageLoader(configuration: configuration)
            let requests = [nil, "a"].map { user in
                ImageRequest(origin.url("/a"), credential: user.map { .basic(user: $0, password: "") })
            }
            for request in requests { _ = try await loader.data(for: request) }
            #expect(cache.entryCount == 2)
            await loader.remove(requests[1])
            #expect(cache.entryCount == 1)
            #expect(await cache.contains(origin.url("/a")))
        }
    }

    @Test func targetsOfStoredRedirectsAreRemoved() async throws {
        try await withLoopbackOrigin { origin in
            let fresh = "max-age=60"
            origin.route("/a", .init(status: 301, headerFields: ["Location": "/b", "Cache-Control": fresh]))
            origin.route("/b", .init(headerFields: ["Cache-Control": fresh], body: [1]))
            var configuration = ImageLoader.Configuration.patient
            let cache = try ResponseCache(ResponseCache.Configuration())
            configuration.responseCache = cache
            let loader = ImageLoader(configuration: configuration)
            _ = try await loader.data(for: ImageRequest(origin.url("/a")))
            await loader.coordinator.becomesIdle()
            #expect(cache.entryCount == 2)
            await loader.remove(ImageRequest(origin.url("/a")))
            #expect(cache.entryCount == 0)
        }
    }
}
