import HTTPTransport
import TestSupport
import Testing
import Threading

@testable import AsyncWebImage
@testable import ResponseCache

/// The decisions of a cache about requests.
@Suite(.timeLimit(.minutes(1)))
struct CacheDecisionTests {
    private let url = "http://example.com/a"
    private let time = ManualTime()

    /// Returns the decision about a request for ``url``.
    private func decision(
        _ cache: ResponseCache?, _ policy: CachePolicy = .useProtocol,
        _ change: (inout TransportRequest) -> Void = { _ in }
    ) async throws -> CacheDecision {
        var request = TransportRequest(url: try HTTPURL(url))
        change(&request)
        let answer = OneShot<CacheDecision>()
        if let cache, let request = CacheRequest(request, policy: policy) {
            cache.thread.append { answer.resolve(.success(cache.lookUpAllHops(request, revalidatesLater: true))) }
        } else {
            ResponseCache.lookUp(request, in: cache, policy: policy) { answer.resolve(.success($0)) }
        }
        return try await answer.value
    }

    /// The name of a decision, with `stored` if something is stored for it.
    private func name(_ decision: CacheDecision) -> String {
        switch decision {
        case .serve: "serve"
        case .revalidate: "revalidate"
        case .resume: "resume"
        case .fetch(nil): "fetch"
        case .fetch: "fetch, stored"
        case .undecided: "undecided"
        case .refuse: "refuse"
        }
    }

    @Test(
        arguments: [
            (.useProtocol, "serve", "revalidate", "fetch"), (.revalidate, "revalidate", "revalidate", "fetch"),
            (.cacheElseLoad, "serve", "serve", "fetch"), (.cacheOnly, "serve", "serve", "refuse"),
            (.reload, "fetch", "fetch", "fetch"), (.noStore, "fetch", "fetch", "fetch"),
        ] as [(CachePolicy, String, String, String)])
    func cachePolicySelectsDecision(policy: CachePolicy, fresh: String, stale: String, nothing: String) async throws {
        let cache = try ResponseCache.test(nil, time)
        #expect(name(try await decision(cache, policy)) == nothing)
        try await cache.store([1], url, [.cacheControl: "max-age=60", .eTag: "\"a\""])
        #expect(name(try await decision(cache, policy)) == fresh)
        time.advance(by: 61)
        #expect(name(try await decision(cache, policy)) == stale)
    }

    @Test func staleResponseWithoutValidatorServesOnlyAsFallback() async throws {
        let cache = try ResponseCache.test(nil, time)
        try await cache.store([1], url, [.cacheControl: "max-age=0"])
        #expect(name(try await decision(cache)) == "fetch, stored")
    }

    @Test func uncacheableRequestsAreFetched() async throws {
        let cache = try ResponseCache.test(nil, time)
        try await cache.store([1], url)
        let changes: [@Sendable (inout TransportRequest) -> Void] = [
            { $0.handlesCookies = true }, { $0.method = .head }, { $0.headerFields[.range] = "bytes=0-1,4-5" },
            { $0.headerFields[.ifNoneMatch] = "\"a\"" },
        ]
        for change in changes { #expect(name(try await decision(cache, .useProtocol, change)) == "fetch") }
        #expect(name(try await decision(nil)) == "fetch")
        #expect(name(try await decision(nil, .cacheOnly)) == "refuse")
    }

    /// It can wait for long.
    @Test func decisionThatNeedsTheNetworkHoldsNoFile() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            try await cache.store([1], url, [.cacheControl: "max-age=0", .eTag: "\"a\""])
            let answer = OneShot<CacheDecision>()
            let request = TransportRequest(url: try HTTPURL(url))
            ResponseCache.lookUp(request, in: cache, policy: .useProtocol) { answer.resolve(.success($0)) }
            #expect(name(try await answer.value) == "undecided")
        }
    }

    @Test(arguments: [true, false])
    func staleResponseIsServedOnlyToACallerThatRevalidatesItLater(revalidatesLater: Bool) async throws {
        let cache = try ResponseCache.test(nil, time)
        try await cache.store([1], url, [.cacheControl: "max-age=1, stale-while-revalidate=60", .eTag: "\"a\""])
        time.advance(by: 10)
        let request = TransportRequest(url: try HTTPURL(url))
        let answer = OneShot<CacheDecision>()
        ResponseCache.lookUp(request, in: cache, policy: .useProtocol, revalidatesLater: revalidatesLater) {
            answer.resolve(.success($0))
        }
        #expect(name(try await answer.value) == (revalidatesLater ? "serve" : "undecided"))
    }
}
