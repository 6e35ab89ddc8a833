import HTTPTransport
import HTTPTypes
import TestSupport
import Testing

@testable import ResponseCache

/// RFC 9111, section 3.3: a cache without support for ranges passes requests for them through.
@Suite(.timeLimit(.minutes(1)))
struct RangeTests {
    private let url = "http://example.com/a"
    private let time = ManualTime()
    private let origin = TestResponder { request in
        let fields: HTTPFields = [.eTag: "\"a\"", .cacheControl: "max-age=60", .contentRange: "bytes 0-1/3"]
        return request.headerFields[.range] == nil ? (.ok, [:], [[1, 2, 3]]) : (.partialContent, fields, [[1, 2]])
    }

    private func ask(_ cache: ResponseCache, _ range: String, _ policy: CachePolicy) async throws -> IncomingResponse {
        let request = TransportRequest(url: try HTTPURL(url), headerFields: [.range: range])
        return try await CachingResponder(cache, policy: policy, before: origin).response(to: request)
    }

    @Test(arguments: TestStorage.allCases, ["bytes=0-1", "bytes=0-", "bytes=-2", "bytes=0-0,2-2"])
    func requestsForRangesBypassTheCache(storage: TestStorage, range: String) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            try await cache.store([7, 8, 9], url)
            for policy in CachePolicy.allCases where policy != .cacheOnly {
                let response = try await ask(cache, range, policy)
                #expect(response.head.status == .partialContent && response.source == .network)
                #expect(try await response.body.bytes() == [1, 2])
            }
            await cache.settles()
            #expect(origin.requests.allSatisfy { $0.headerFields == [.range: range] })
            #expect(try await cache.stored(url) == [7, 8, 9] && cache.entryCount == 1)
            #expect(cache.statistics.hits + cache.statistics.misses == 0)
        }
    }

    @Test func nothingAnswersARequestForARangeWithoutTheNetwork() async throws {
        let cache = try ResponseCache.test(nil, time)
        try await cache.store([7, 8, 9], url)
        await #expect { _ = try await ask(cache, "bytes=0-1", .cacheOnly) } throws: { error in
            (error as? TransportError)?.reason == .notCached
        }
        #expect(origin.requests.isEmpty)
    }
}
