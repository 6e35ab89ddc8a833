import HTTPTransport
import HTTPTypes
import TestSupport
import Testing

@testable import ResponseCache

/// RFC 9111, section 3: responses of any status are stored for as long as their origin says.
@Suite(.timeLimit(.minutes(5)))
struct StoredStatusTests {
    private let url = "http://example.com/a"
    private let time = ManualTime()

    private func ask(
        _ cache: ResponseCache, _ origin: TestResponder, isRetry: Bool = false
    ) async throws -> (status: Int, source: ResponseSource, body: [UInt8]) {
        let response = try await CachingResponder(cache, policy: .useProtocol, isRetry: isRetry, before: origin)
            .response(to: TransportRequest(url: try HTTPURL(url)))
        let body = try await response.body.bytes()
        await cache.settles()
        return (response.head.status.code, response.source, body)
    }

    @Test(arguments: TestStorage.allCases, [204, 299, 404, 410, 500, 503, 599])
    func anyStatusIsServedWhileItIsFresh(storage: TestStorage, status: Int) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            let body: [[UInt8]] = status == 204 ? [] : [[1, 2]]
            let origin = TestResponder { _ in (.init(code: status), [.cacheControl: "max-age=60"], body) }
            _ = try await ask(cache, origin)
            let again = try await ask(cache, origin)
            #expect(again.status == status && again.source == cache.source && again.body == body.flatMap { $0 })
            #expect(origin.requests.count == 1)
            time.advance(by: 60)
            #expect(try await ask(cache, origin).source == .network)
        }
    }

    @Test func retryIsNotAnsweredByAStoredFailure() async throws {
        let cache = try ResponseCache.test(nil, time)
        let origin = TestResponder { _ in (.serviceUnavailable, [.cacheControl: "max-age=60"], [[1]]) }
        _ = try await ask(cache, origin)
        #expect(try await ask(cache, origin, isRetry: true).source == .network)
        #expect(try await ask(cache, origin).source == .responseCacheMemory)
    }

    @Test func storedFailureDoesNotReplaceOtherFailures() async throws {  // RFC 5861, section 4
        let cache = try ResponseCache.test(nil, time)
        let gone = TestResponder { _ in (.gone, [.cacheControl: "max-age=1, stale-if-error=60"], [[1]]) }
        _ = try await ask(cache, gone)
        time.advance(by: 2)
        let failing = TestResponder { _ in (.serviceUnavailable, [:], [[2]]) }
        #expect(try await ask(cache, failing).status == 503)
    }

    /// Both responses have no date, so that their times count from their arrival.
    @Test func expiredErrorWithoutDateDoesNotReplaceTheStoredResponse() async throws {
        let cache = try ResponseCache.test(nil, time)
        try await cache.store([1], url, [.cacheControl: "max-age=0"])
        let origin = TestResponder { _ in
            (.internalServerError, [.expires: "Sun, 06 Nov 1994 08:49:37 GMT"], [[2]])
        }
        #expect(try await ask(cache, origin).status == 500)
        #expect(try await cache.stored(url) == [1])
    }

    @Test func freshnessOfAnErrorWithoutDateIsEstimated() async throws {
        let cache = try ResponseCache.test(nil, time)
        let origin = TestResponder { _ in (.notFound, [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"], [[2]]) }
        #expect(try await ask(cache, origin).source == .network)
        #expect(try await ask(cache, origin).source == .responseCacheMemory)
    }

    @Test func anEmptyRepresentationIsNotStored() async throws {
        let cache = try ResponseCache.test(nil, time)
        let origin = TestResponder { _ in (.ok, [.cacheControl: "max-age=60", .contentLength: "0"], []) }
        for _ in 0..<2 { #expect(try await ask(cache, origin).source == .network) }
    }

    @Test(arguments: [true, false])
    func aBodyOfAnotherLengthIsNotStored(isFailure: Bool) async throws {
        let cache = try ResponseCache.test(nil, time)
        let origin = TestResponder { _ in
            (isFailure ? .notFound : .ok, [.cacheControl: "max-age=60", .contentLength: "3"], [[1, 2]])
        }
        for _ in 0..<2 { #expect(try await ask(cache, origin).source == .network) }
    }
}
