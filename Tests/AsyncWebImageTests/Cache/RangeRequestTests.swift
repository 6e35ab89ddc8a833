import HTTPTypes
import LoopbackOrigin
import TestSupport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// Requests for a part of a body, with and without a cache.
@Suite(.timeLimit(.minutes(2)))
struct RangeRequestTests {
    private let time = ManualTime()
    private let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    private func request(_ origin: LoopbackOrigin, _ range: String?) -> ImageRequest {
        var request = ImageRequest(origin.url("/a"))
        request.headerFields[.range] = range
        return request
    }

    private func loader(_ cache: ResponseCache?) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.responseCache = cache
        return ImageLoader(configuration: configuration)
    }

    @Test func requestedRangeIsDelivered() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a") { [body] _ in
                .init(status: 206, headerFields: ["Content-Range": "bytes 10-19/100000"], body: Array(body[10..<20]))
            }
            let data = try await loader(nil).data(for: request(origin, "bytes=10-19"))
            #expect(data.head.status == .partialContent && data.bytes == Array(body[10..<20]))
        }
    }

    @Test func unrequestedRangeIsAnError() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(status: 206, headerFields: ["Content-Range": "bytes 0-1/10"], body: [1, 2]))
            await #expect(throws: ImageError.self) { try await loader(nil).data(for: request(origin, nil)) }
        }
    }

    @Test func requestForARangeBypassesTheCache() async throws {
        try await withLoopbackOrigin { origin in
            let cache = try ResponseCache.test(nil, time)
            let loader = loader(cache)
            origin.route("/a") { [body] request in
                guard request.headerFields["Range"] != nil else {
                    return .init(headerFields: ["Cache-Control": "max-age=60"], body: body)
                }
                let fields: HeaderFields = [
                    "Cache-Control": "max-age=60", "Content-Range": "bytes 70000-99999/100000",
                ]
                return .init(status: 206, headerFields: fields, body: Array(body[70_000...]))
            }
            _ = try await loader.data(for: request(origin, nil))
            for _ in 0..<2 {
                let data = try await loader.data(for: request(origin, "bytes=70000-"))
                #expect(data.head.status == .partialContent && data.source == .network)
                #expect(data.bytes == Array(body[70_000...]))
            }
            #expect(origin.counts.totalRequests == 3 && cache.entryCount == 1)
            await loader.shutdown(gracePeriod: .zero)
        }
    }
}
