import HTTPTransport
import HTTPTypes
import LoopbackOrigin
import TestSupport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// Redirects and what they lead to are stored and reused by their own rules, each with its own URL.
@Suite(.timeLimit(.minutes(2)))
struct CachedRedirectTests {
    private let time = ManualTime()
    private let fresh: HeaderFields = ["Cache-Control": "max-age=60"]

    private func withCache(
        onDisk: Bool = false, _ body: (LoopbackOrigin, ResponseCache, ImageLoader) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await withLoopbackOrigin { origin in
                let cache = try ResponseCache.test(onDisk ? folder : nil, time)
                var configuration = ImageLoader.Configuration.patient
                configuration.responseCache = cache
                let loader = ImageLoader(configuration: configuration)
                try await body(origin, cache, loader)
                await loader.shutdown(gracePeriod: .zero)
            }
        }
    }

    /// Returns the body after the download has ended and the response is stored.
    private func load(_ loader: ImageLoader, _ cache: ResponseCache, _ request: ImageRequest) async throws
        -> ResponseBody
    {
        let data: Result<ResponseBody, any Error>
        do { data = .success(try await loader.data(for: request)) } catch { data = .failure(error) }
        await loader.coordinator.becomesIdle()
        await cache.settles()
        return try data.get()
    }

    /// Returns a redirect with a body, which must be ignored.
    private func redirect(to location: String, _ fields: HeaderFields = [:]) -> LoopbackOrigin.Response {
        var response = LoopbackOrigin.Response(status: 302, headerFields: fields, body: Array("moved".utf8))
        response.headerFields.append("Location", location)
        return response
    }

    @Test(arguments: [true, false]) func theTargetOfARedirectIsStoredUnderItsOwnURL(onDisk: Bool) async throws {
        try await withCache(onDisk: onDisk) { origin, cache, loader in
            origin.route("/a", redirect(to: "/b"))
            origin.route("/b", .init(headerFields: fresh, body: [1, 2, 3]))
            let first = try await load(loader, cache, ImageRequest(origin.url("/a")))
            #expect(first.source == .network && first.head.redirectCount == 1 && first.metrics.redirectCount == 1)
            let second = try await load(loader, cache, ImageRequest(origin.url("/a")))
            #expect(second.source == cache.source && second.bytes == [1, 2, 3])
            #expect(second.head.url.string == origin.url("/b") && second.head.redirectCount == 1)
            #expect(try await load(loader, cache, ImageRequest(origin.url("/b"))).source == cache.source)
            #expect(origin.counts.requests == ["/a": 2, "/b": 1])
        }
    }

    @Test(arguments: [true, false]) func freshRedirectIsFollowedWithoutARequest(onDisk: Bool) async throws {
        try await withCache(onDisk: onDisk) { origin, cache, loader in
            origin.route("/a", redirect(to: "/b", fresh))
            origin.route("/b", redirect(to: "/c", fresh))
            origin.route("/c", .init(headerFields: ["Cache-Control": "max-age=30"], body: [1]))
            for _ in 0..<2 {
                let data = try await load(loader, cache, ImageRequest(origin.url("/a")))
                #expect(data.bytes == [1] && data.head.redirectCount == 2)
                #expect(data.head.url.string == origin.url("/c"))
            }
            #expect(origin.counts.requests == ["/a": 1, "/b": 1, "/c": 1])
            // The redirects stay fresh, but the response of their target does not.
            time.advance(by: 40)
            #expect(try await load(loader, cache, ImageRequest(origin.url("/a"))).source == .network)
            #expect(origin.counts.requests == ["/a": 1, "/b": 1, "/c": 2])
            time.advance(by: 20)
            _ = try await load(loader, cache, ImageRequest(origin.url("/a")))
            #expect(origin.counts.requests == ["/a": 2, "/b": 2, "/c": 2])
        }
    }

    @Test func targetOfARedirectIsStoredUnderItsOwnURLAlthoughTheRequestHasACacheKey() async throws {
        try await withCache { origin, cache, loader in
            origin.route("/a", redirect(to: "/b", fresh))
            origin.route("/b", .init(headerFields: fresh, body: [1]))
            for query in ["1", "2"] {
                let request = ImageRequest(origin.url("/a?\(query)"), cacheKey: "image")
                let data = try await load(loader, cache, request)
                #expect(data.bytes == [1] && data.head.redirectCount == 1)
            }
            #expect(try await load(loader, cache, ImageRequest(origin.url("/b"))).source == cache.source)
            #expect(origin.counts.totalRequests == 2)
        }
    }

    @Test func targetOfStoredRedirectIsRevalidated() async throws {
        try await withCache { origin, cache, loader in
            origin.route("/a", redirect(to: "/b"))
            origin.route("/b") {
                $0.headerFields["If-None-Match"] == "\"v\""
                    ? .init(status: 304)
                    : .init(headerFields: ["ETag": "\"v\"", "Cache-Control": "no-cache"], body: [1])
            }
            _ = try await load(loader, cache, ImageRequest(origin.url("/a")))
            #expect(try await load(loader, cache, ImageRequest(origin.url("/a"))).source == .revalidated)
        }
    }

    @Test func redirectTargetOnOtherOriginIsLoadedWithoutCredentials() async throws {
        try await withLoopbackOrigin { other in
            try await withCache { origin, cache, loader in
                origin.route("/a", redirect(to: other.url("/b"), fresh))
                other.route("/b", .init(headerFields: fresh, body: [1]))
                var request = ImageRequest(origin.url("/a"))
                request.headerFields[.authorization] = "Bearer secret"
                for _ in 0..<2 { #expect(try await load(loader, cache, request).bytes == [1]) }
                #expect(origin.counts.totalRequests == 1 && other.counts.totalRequests == 1)
                #expect(other.recordedRequests.first?.headerFields["Authorization"] == nil)
                #expect(try await load(loader, cache, ImageRequest(other.url("/b"))).source == cache.source)
                // The stored redirect is used only for requests with the same credentials.
                _ = try await load(loader, cache, ImageRequest(origin.url("/a")))
                #expect(origin.counts.totalRequests == 2)
            }
        }
    }

    @Test func loopOfStoredRedirectsFails() async throws {
        try await withCache { origin, cache, loader in
            origin.route("/a", redirect(to: "/a", fresh))
            for policy in [CachePolicy.useProtocol, .useProtocol, .reload] {
                var request = ImageRequest(origin.url("/a"))
                request.cachePolicy = policy
                let error = await #expect(throws: ImageError.self) { try await load(loader, cache, request) }
                guard case .transport(let cause)? = error else { continue }
                #expect(cause.reason == .tooManyRedirects(limit: 10))
            }
        }
    }

    @Test func cacheOnlyRequestFollowsOnlyStoredRedirects() async throws {
        try await withCache { origin, cache, loader in
            origin.route("/a", redirect(to: "/b", fresh))
            origin.route("/b", .init(headerFields: ["Cache-Control": "no-store"], body: [1]))
            origin.route("/c", redirect(to: "/d", fresh))
            origin.route("/d", .init(headerFields: fresh, body: [2]))
            for path in ["/a", "/c"] {
                var request = ImageRequest(origin.url(path))
                _ = try await load(loader, cache, request)
                request.cachePolicy = .cacheOnly
                let only = request
                if path == "/c" {
                    #expect(try await load(loader, cache, only).bytes == [2])
                } else {
                    await #expect(throws: ImageError.self) { try await load(loader, cache, only) }
                }
            }
            #expect(origin.counts.totalRequests == 4)
        }
    }
}
