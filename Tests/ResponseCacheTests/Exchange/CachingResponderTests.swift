import HTTPSemantics
import HTTPTransport
import HTTPTypes
import TestSupport
import Testing

@testable import ResponseCache

/// A cache answers requests as the responder behind it would: with one head and one body.
@Suite(.timeLimit(.minutes(5)))
struct CachingResponderTests {
    private let body = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
    private let url = "http://example.com/a"
    private let time = ManualTime()

    private func ask(
        _ cache: ResponseCache?, _ policy: CachePolicy, _ origin: TestResponder
    ) async throws -> IncomingResponse {
        try await CachingResponder(cache, policy: policy, before: origin)
            .response(to: TransportRequest(url: try HTTPURL(url)))
    }

    @Test func storedResponseIsServedWithoutRequest() async throws {
        let cache = try ResponseCache.test(nil, time)
        try await cache.store(body, url)
        let origin = TestResponder { _ in (.ok, [:], []) }
        let response = try await ask(cache, .useProtocol, origin)
        #expect(response.source == .responseCacheMemory && response.length == body.count)
        #expect(try await response.body.bytes() == body)
        #expect(origin.requests.isEmpty)
    }

    /// Other processes can store it in the meantime.
    @Test func responseStoredWhileTheRequestWaitedIsServed() async throws {
        let cache = try ResponseCache.test(nil, time)
        let origin = TestResponder { _ in (.ok, [:], [[9]]) }
        let responder = CachingResponder(cache, policy: .useProtocol, decision: .undecided, before: origin)
        try await cache.store([1, 2, 3], url)
        let response = try await responder.response(to: TransportRequest(url: try HTTPURL(url)))
        #expect(try await response.body.bytes() == [1, 2, 3])
        #expect(origin.requests.isEmpty)
        #expect(cache.statistics == ResponseCache.Statistics(hits: 1))
    }

    /// As over the network.
    @Test(arguments: [10, 400_000], [CachePolicy.useProtocol, .cacheOnly, .revalidate])
    func storedBodyBeyondTheLimitOfTheRequestIsAnError(length: Int, policy: CachePolicy) async throws {
        let cache = try ResponseCache.test(nil, time)
        try await cache.store(Array(body[..<length]), url, [.cacheControl: "max-age=60", .eTag: "\"a\""])
        let origin = TestResponder { _ in (.notModified, [.eTag: "\"a\""], []) }
        let responder = CachingResponder(cache, policy: policy, before: origin)
        let small = TransportRequest(url: try HTTPURL(url), maximumBodyBytes: length - 1)
        let error = await #expect(throws: TransportError.self) { _ = try await responder.response(to: small).head }
        #expect(error?.reason == .bodyTooLarge(limit: length - 1))
        let exact = TransportRequest(url: try HTTPURL(url), maximumBodyBytes: length)
        #expect(try await responder.response(to: exact).body.bytes().count == length)
    }

    /// Otherwise it would be delivered by the thread that has read it.
    @Test func storedBodyBeyondTheLimitOfTheRequestIsNotLoaded() async throws {
        let cache = try ResponseCache.test(nil, time)
        try await cache.store([1, 2, 3], url)
        for (limit, isExpected) in [(2, false), (3, true)] {
            let request = TransportRequest(url: try HTTPURL(url), maximumBodyBytes: limit)
            let lookup = try #require(CacheRequest(request, policy: .useProtocol))
            let isRead = await cache.thread.run { cache.lookUp(lookup).completeReply != nil }
            #expect(isRead == isExpected)
        }
    }

    @Test(arguments: [true, false])
    func storedEntityTagIsSentBackByteForByte(onDisk: Bool) async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(onDisk ? folder : nil, time)
            let tag: [UInt8] = [0x22, 0xE9, 0xFF, 0x22]
            var fields: HTTPFields = [:]
            fields.set(.eTag, tag)
            try await cache.store(body, url, fields)
            let origin = TestResponder { [fields] _ in (.notModified, fields, []) }
            let response = try await ask(cache, .revalidate, origin)
            #expect(origin.requests.map { $0.headerFields.bytes(of: .ifNoneMatch) } == [tag])
            #expect(response.source == .revalidated)
            #expect(response.head.response.headerFields.bytes(of: .eTag) == tag)
            #expect(try await response.body.bytes() == body)
        }
    }

    @Test func missedResponseIsDeliveredAndStored() async throws {
        let cache = try ResponseCache.test(nil, time)
        let response = try await ask(cache, .useProtocol, TestResponder { _ in (.ok, [:], [[1], [2, 3]]) })
        #expect(response.source == .network)
        #expect(try await response.body.bytes() == [1, 2, 3])
        #expect(try await cache.stored(url) == [1, 2, 3])
    }

    @Test func responderWithoutCachePassesRequestsAndResponses() async throws {
        let response = try await ask(nil, .useProtocol, TestResponder { _ in (.ok, [:], [[1]]) })
        #expect(try await response.body.bytes() == [1])
        await #expect(throws: TransportError.self) {
            _ = try await ask(nil, .cacheOnly, TestResponder { _ in (.ok, [:], [[1]]) }).head
        }
    }

    @Test(arguments: [true, false], [true, false])
    func renewalDoesNotRestoreARemovedEntry(onDisk: Bool, isReplaced: Bool) async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(onDisk ? folder : nil, time)
            try await cache.store(body, url, [.eTag: "\"a\""])
            let origin = TestResponder { _ in (.notModified, [.eTag: "\"a\""], []) }
            let response = try await ask(cache, .revalidate, origin)
            #expect(origin.requests.map { $0.headerFields[.ifNoneMatch] } == ["\"a\""])
            #expect(response.source == .revalidated)
            if isReplaced { try await cache.store([1, 2, 3], url) } else { await cache.remove(url) }
            #expect(try await response.body.bytes() == body)
            #expect(try await cache.stored(url) == (isReplaced ? [1, 2, 3] : nil))
        }
    }

    @Test func unread304RenewsStoredResponse() async throws {
        let cache = try ResponseCache.test(nil, time)
        try await cache.store(body, url, [.eTag: "\"a\"", .cacheControl: "max-age=10"])
        time.advance(by: 60)
        let origin = TestResponder { _ in (.notModified, [.eTag: "\"a\"", .cacheControl: "max-age=10"], []) }
        #expect(try await ask(cache, .useProtocol, origin).source == .revalidated)
        #expect(try await ask(cache, .useProtocol, origin).source == .responseCacheMemory)
        #expect(origin.requests.count == 1)
    }

    @Test func storedPartPrecedesRemainder() async throws {
        let cache = try ResponseCache.test(nil, time)
        let (body, url, count) = (body, url, 100_000)
        let origin = TestResponder { request in
            guard request.headerFields[.range] == "bytes=\(count)-" else {
                return (.ok, [.eTag: "\"a\"", .contentLength: "\(body.count)"], [Array(body[..<count]), [0]])
            }
            let range = "bytes \(count)-\(body.count - 1)/\(body.count)"
            return (.partialContent, [.eTag: "\"a\"", .contentRange: range], [Array(body[count...])])
        }
        func readBeginning() async throws {
            #expect(try await ask(cache, .useProtocol, origin).body.next()?.count == count)
        }
        try await readBeginning()
        await cache.settles()
        let response = try await ask(cache, .useProtocol, origin)
        #expect(response.head.status == .ok && response.length == body.count)
        #expect(try await response.body.bytes() == body)
        #expect(try await cache.stored(url) == body)
    }

    @Test func a206AfterARedirectDoesNotContinueAStoredBeginning() async throws {
        let cache = try ResponseCache.test(nil, time)
        let (body, count) = (body, 100_000)
        let fields: HTTPFields = [.eTag: "\"a\"", .contentLength: "\(body.count)"]
        func readBeginning() async throws {
            let origin = TestResponder { _ in (.ok, fields, [Array(body[..<count]), [0]]) }
            _ = try await ask(cache, .useProtocol, origin).body.next()
        }
        try await readBeginning()
        await cache.settles()
        let origin = TestResponder(redirectCount: 1) { request in
            guard request.headerFields[.range] != nil else { return (.ok, fields, [body]) }
            let range = "bytes \(count)-\(body.count - 1)/\(body.count)"
            return (.partialContent, [.eTag: "\"a\"", .contentRange: range], [Array(body[count...])])
        }
        let response = try await ask(cache, .useProtocol, origin)
        #expect(try await response.body.bytes() == body)
        #expect(origin.requests.map { $0.headerFields[.range] } == ["bytes=\(count)-", nil])
    }

    /// It can name other header fields in `Vary`, and so be stored under another name.
    @Test(arguments: [true, false])
    func responseContinuesAStoredBeginningAndReplacesIt(isComplete: Bool) async throws {
        let cache = try ResponseCache.test(nil, time)
        let (body, count) = (body, 100_000)
        let origin = TestResponder { request in
            guard request.headerFields[.range] == "bytes=\(count)-" else {
                let fields: HTTPFields = [.eTag: "\"a\"", .vary: "Accept", .contentLength: "\(body.count)"]
                return (.ok, fields, [Array(body[..<count]), [0]])
            }
            let range = "bytes \(count)-\(body.count - 1)/\(body.count)"
            let fields: HTTPFields = [.eTag: "\"a\"", .vary: "Accept-Language", .contentRange: range]
            return (.partialContent, fields, [Array(body[count..<2 * count]), Array(body[(2 * count)...])])
        }
        func read(upTo end: Int) async throws {
            let response = try await ask(cache, .useProtocol, origin)
            var received = 0
            while received < end, let piece = try await response.body.next() { received += piece.count }
            if end == body.count { #expect(try await response.body.next() == nil) }
        }
        try await read(upTo: count)
        await cache.settles()
        try await read(upTo: isComplete ? body.count : 2 * count)
        await cache.settles()
        #expect(origin.requests.count == 2 && cache.entryCount == 1)
    }

    @Test func unusableResponseIsReleasedBeforeTheNextRequest() async throws {
        let cache = try ResponseCache.test(nil, time)
        try await cache.store(body, url, [.eTag: "\"a\"", .cacheControl: "max-age=0"])
        let origin = TestResponder { request in
            request.headerFields[.ifNoneMatch] == nil
                ? (.ok, [:], [[1]]) : (.notModified, [.eTag: "\"b\""], [])
        }
        #expect(try await ask(cache, .useProtocol, origin).body.bytes() == [1])
        #expect(origin.requests.count == 2)
    }

    @Test func redirected304IsNotAccepted() async throws {
        let cache = try ResponseCache.test(nil, time)
        try await cache.store(body, url, [.eTag: "\"a\"", .cacheControl: "max-age=0"])
        let origin = TestResponder(redirectCount: 1) { request in
            request.headerFields[.ifNoneMatch] == nil
                ? (.ok, [:], [[1]]) : (.notModified, [.eTag: "\"a\""], [])
        }
        let response = try await ask(cache, .useProtocol, origin)
        #expect(response.source == .network)
        #expect(try await response.body.bytes() == [1])
        #expect(origin.requests.map { $0.headerFields[.ifNoneMatch] } == ["\"a\"", nil])
    }

    @Test(arguments: [0, 1])
    func unstorableResponseRemovesTheStoredOneUnlessItWasRedirected(redirectCount: Int) async throws {
        let cache = try ResponseCache.test(nil, time)
        try await cache.store(body, url, [.eTag: "\"a\"", .cacheControl: "max-age=0"])
        let origin = TestResponder(redirectCount: redirectCount) { _ in (.ok, [.cacheControl: "no-store"], [[1]]) }
        #expect(try await ask(cache, .useProtocol, origin).body.bytes() == [1])
        await cache.settles()
        #expect(try await cache.stored(url) == (redirectCount == 0 ? nil : body))
    }

    @Test func cachedRequestCanBeCanceledAtAnyMoment() async throws {
        for delay in 0..<40 {
            let cache = try ResponseCache.test(nil, time)
            try await cache.store(body, url)
            let task = Task {
                try await ask(cache, .useProtocol, TestResponder { _ in (.ok, [:], [[1]]) }).body.bytes()
            }
            for _ in 0..<delay { await Task.yield() }
            task.cancel()
            switch await task.result {
            case .success(let bytes): #expect(bytes == body)
            case .failure(let error): #expect(error is CancellationError)
            }
        }
    }
}
