import HTTPTransport
import HTTPTypes
import Hashing
import Testing

@testable import ResponseCache

/// The rules for the stored responses to a request, without a cache.
struct CacheRequestTests {
    private let now = 1_000

    private func request(
        _ policy: CachePolicy = .useProtocol, isRetry: Bool = false,
        _ change: (inout TransportRequest) -> Void = { _ in }
    ) throws -> CacheRequest? {
        var request = TransportRequest(url: try HTTPURL("http://example.com/a"))
        change(&request)
        return CacheRequest(request, policy: policy, isRetry: isRetry)
    }

    private func stored(_ fields: HTTPFields, status: HTTPResponse.Status = .ok) throws -> StoredResponse {
        let request = TransportRequest(url: try HTTPURL("http://example.com/a"))
        let head = StoredHead(
            HTTPResponse(status: status, headerFields: fields), to: request, requestedAt: now - 100,
            receivedAt: now - 100)
        let facts = BodyFacts(identity: 1, length: 3, checksum: CRC32C(of: [1, 2, 3].span))
        return StoredResponse(key: CachedResource(request).plainKey, head: head, body: .entry(nil, facts))
    }

    /// The name of the decision about a stored response; `nil` if a beginning can be used instead.
    private func decision(
        about stored: StoredResponse?, _ policy: CachePolicy = .useProtocol, isRetry: Bool = false,
        revalidatesLater: Bool = false
    ) throws -> String? {
        let request = try #require(try request(policy, isRetry: isRetry))
        switch request.decision(about: stored, from: .disk, at: now, revalidatesLater: revalidatesLater) {
        case .serve(let reply)?: return reply.needsRevalidation ? "serve stale" : "serve"
        case .revalidate?: return "revalidate"
        case .fetch(let standIn)?: return standIn == nil ? "fetch" : "fetch or stand in"
        case .refuse?: return "refuse"
        case .resume?, .undecided?: return "other"
        case nil: return nil
        }
    }

    @Test func someRequestsBypassACache() throws {
        #expect(try request() != nil)
        #expect(try request(.noStore) == nil)
        #expect(try request { $0.method = .head } == nil)
        #expect(try request { $0.handlesCookies = true } == nil)
        #expect(try request { $0.headerFields[.range] = "bytes=0-1" } == nil)
        #expect(try request { $0.headerFields = [.range: "bytes=5-", .ifRange: "\"a\""] } != nil)
    }

    @Test func decisionDependsOnFreshnessAndValidators() throws {
        #expect(try decision(about: stored([.cacheControl: "max-age=200"])) == "serve")
        #expect(try decision(about: stored([.cacheControl: "max-age=50", .eTag: "\"a\""])) == "revalidate")
        #expect(try decision(about: stored([.cacheControl: "max-age=50"])) == "fetch or stand in")
        #expect(try decision(about: nil) == nil)
    }

    @Test func onlyACallerThatRevalidatesLaterGetsAStaleResponse() throws {
        let stored = try stored([.cacheControl: "max-age=50, stale-while-revalidate=60", .eTag: "\"a\""])
        #expect(try decision(about: stored, revalidatesLater: true) == "serve stale")
        #expect(try decision(about: stored) == "revalidate")
    }

    @Test func nothingIsFetchedWithCacheOnly() throws {
        #expect(try decision(about: stored([:]), .cacheOnly) == "serve")
        #expect(try decision(about: nil, .cacheOnly) == "refuse")
    }

    @Test func aRetryIgnoresAStoredFailure() throws {
        let failure = try stored([.cacheControl: "max-age=200"], status: .notFound)
        #expect(try decision(about: failure) == "serve")
        #expect(try decision(about: failure, isRetry: true) == nil)
    }

    @Test(arguments: [("\"a\"", true), ("W/\"a\"", true), (nil, true), ("\"b\"", false)])
    func a304ConfirmsOnlyTheSameVersion(tag: String?, isConfirmed: Bool) throws {
        let request = try #require(try request())
        var head = HTTPResponse(status: .notModified)
        head.headerFields[.eTag] = tag
        let reply = request.reply(
            try stored([.eTag: "\"a\""]), confirmedBy: ResponseHead(response: head, url: request.transportRequest.url),
            requestedAt: now, receivedAt: now)
        #expect((reply != nil) == isConfirmed)
        #expect(reply?.update?.receivedAt == reply.map { _ in now })
    }

    @Test func aStoredRedirectLeadsToAnotherRequest() throws {
        let request = try #require(try request(.cacheElseLoad))
        let redirect = try stored([.location: "/b"], status: .found)
        let target = request.target(of: request.reply(redirect, from: .disk, at: now))
        #expect(target?.transportRequest.url.string == "http://example.com/b")
        #expect(target?.transportRequest.followedRedirects == 1 && target?.policy == .cacheElseLoad)
    }
}
