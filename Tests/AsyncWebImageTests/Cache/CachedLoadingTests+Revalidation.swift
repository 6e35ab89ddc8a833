import HTTPTransport
import LoopbackOrigin
import TestSupport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

// The answers of origins that are asked whether a stored response is current.
extension CachedLoadingTests {
    @Test func aRedirectInsteadOfA304LeadsToAnUnconditionalRequest() async throws {
        try await withCache { origin, cache in
            origin.route("/a") { request in
                request.headerFields["If-None-Match"] == nil
                    ? .init(headerFields: ["ETag": "\"v1\""], body: [UInt8(request.ordinal)])
                    : .redirect(to: "/b")
            }
            origin.route("/b") {
                $0.headerFields["If-None-Match"] == nil
                    ? .init(body: [9]) : .init(status: 304, headerFields: ["ETag": "\"v1\""])
            }
            let loader = loader(cache)
            #expect(try await load(loader, ImageRequest(origin.url("/a"))).bytes == [1])
            let second = try await load(loader, ImageRequest(origin.url("/a")))
            #expect(second.source == .network && second.bytes == [9])
            #expect(origin.counts.requests["/b"] == 1)
        }
    }

    @Test func staleIfErrorResponseReplacesAnError() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            let (kept, lost) = try await withLoopbackOrigin { origin in
                origin.route("/a", tagged("\"a\"", "max-age=60, stale-if-error=600", body))
                origin.route("/b", tagged("\"b\"", "max-age=60", body))
                for path in ["/a", "/b"] { _ = try await load(loader(cache), ImageRequest(origin.url(path))) }
                time.advance(by: 100)
                origin.route("/a", .init(status: 503, body: [1, 2, 3]))
                let data = try await load(loader(cache), ImageRequest(origin.url("/a")))
                #expect(data.source == .disk && data.bytes == body)
                return (origin.url("/a"), origin.url("/b"))
            }
            // The origin no longer responds.
            let standIn = try await load(loader(cache), ImageRequest(kept))
            #expect(standIn.bytes == body)
            await #expect(throws: ImageError.self) { try await load(loader(cache), ImageRequest(lost)) }
            let offline = try await load(loader(cache, policy: .cacheElseLoad), ImageRequest(lost))
            #expect(offline.source == .disk && offline.bytes == body)
            time.advance(by: 1_000)
            await #expect(throws: ImageError.self) { try await load(loader(cache), ImageRequest(kept)) }
        }
    }

    @Test func unrequested304IsAnError() async throws {
        try await withCache { origin, cache in
            origin.route("/a", tagged("\"v1\"", "max-age=60", body))
            origin.route("/odd", .init(status: 304, headerFields: ["ETag": "\"v1\""]))
            for cache in [nil, cache] {
                let loader = loader(cache)
                var request = ImageRequest(origin.url("/a"))
                let first = try await load(loader, request)
                request.knownVersion = ResponseVersion(first.head)
                let error = await #expect(throws: ImageError.self) { try await load(loader, request) }
                guard case .notModified(let head) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(head.status == .notModified && error?.isRetryable == false)
                request.knownVersion = ResponseVersion([.eTag: "\"v0\""])
                #expect(try await load(loader, request).bytes == body)

                let unasked = await #expect(throws: ImageError.self) {
                    try await load(loader, ImageRequest(origin.url("/odd")))
                }
                #expect(unasked?.httpStatus == 304)
            }
        }
    }

    @Test func status304OfAnotherVersionCausesUnconditionalRequest() async throws {
        try await withCache { origin, cache in
            origin.route("/a") { [body] request in
                request.headerFields["If-None-Match"] == nil
                    ? .init(headerFields: ["ETag": "\"v\(request.ordinal)\""], body: body)
                    : .init(status: 304, headerFields: ["ETag": "\"other\""])
            }
            let loader = loader(cache)
            _ = try await load(loader, ImageRequest(origin.url("/a")))
            let second = try await load(loader, ImageRequest(origin.url("/a")))
            #expect(second.source == .network && second.bytes == body)
            #expect(origin.counts.totalRequests == 3)
        }
    }
}
