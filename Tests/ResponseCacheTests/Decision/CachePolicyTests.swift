import HTTPSemantics
import HTTPTransport
import HTTPTypes
import Testing

@testable import ResponseCache

/// RFC 9111, section 4: when a stored response is used, revalidated, or ignored.
@Suite struct CachePolicyTests {
    private static let asks: HTTPFields = [.cacheControl: "no-cache"]
    private static let fresh: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"a\""]
    private static let stale: HTTPFields = [.eTag: "\"a\""]
    private static let bare: HTTPFields = [:]
    private static let immutable: HTTPFields = [.cacheControl: "max-age=60, immutable", .eTag: "\"a\""]

    @Test(
        arguments: [
            (.useProtocol, nil, .fetch), (.useProtocol, Self.fresh, .serve), (.useProtocol, Self.stale, .validate),
            (.useProtocol, Self.bare, .fetch),
            (.reload, nil, .fetch), (.reload, Self.fresh, .fetch),
            (.revalidate, nil, .fetch), (.revalidate, Self.fresh, .validate), (.revalidate, Self.bare, .fetch),
            (.cacheElseLoad, nil, .fetch), (.cacheElseLoad, Self.bare, .serve),
            (.cacheOnly, nil, .fail), (.cacheOnly, Self.bare, .serve),
            (.noStore, Self.fresh, .fetch),
        ] as [(CachePolicy, HTTPFields?, CachePolicy.Step)])
    func policyDecidesFirstStep(policy: CachePolicy, stored: HTTPFields?, step: CachePolicy.Step) throws {
        #expect(try Self.step(policy, stored, [:]) == step)
    }

    @Test func requestDirectivesCanRequireRevalidation() throws {  // 5.2.1
        #expect(try Self.step(.useProtocol, Self.fresh, Self.asks) == .validate)
        #expect(try Self.step(.useProtocol, Self.fresh, [.cacheControl: "max-age=5"], age: 6) == .validate)
        #expect(try Self.step(.useProtocol, Self.fresh, [.cacheControl: "max-age=5"], age: 5) == .serve)
    }

    @Test func immutableResponsesAreNotRevalidatedWhileFresh() throws {  // RFC 8246, section 2
        #expect(try Self.step(.revalidate, Self.immutable, [.cacheControl: "max-age=0"], age: 59) == .serve)
        #expect(try Self.step(.revalidate, Self.immutable, Self.asks) == .validate)
        #expect(try Self.step(.revalidate, Self.immutable, [:], age: 60) == .validate)
        #expect(try Self.step(.reload, Self.immutable, [:]) == .fetch)
    }

    @Test(
        arguments: [
            (.useProtocol, .fetch), (.revalidate, .fetch), (.cacheElseLoad, .fetch), (.cacheOnly, .fail),
        ] as [(CachePolicy, CachePolicy.Step)])
    func storedFailuresAreUsedOnlyWhileFresh(policy: CachePolicy, later: CachePolicy.Step) throws {
        let fields: HTTPFields = [.cacheControl: "max-age=60"]
        if policy != .revalidate { #expect(try Self.step(policy, fields, [:], age: 59, status: .notFound) == .serve) }
        #expect(try Self.step(policy, fields, [:], age: 60, status: .notFound) == later)
    }

    @Test func onlyUseProtocolServesStaleWhileRevalidating() throws {  // RFC 5861, section 3
        let request = TransportRequest(url: try HTTPURL("http://example.com/a"))
        let fields: HTTPFields = [.cacheControl: "max-age=1, stale-while-revalidate=10"]
        func serves(_ policy: CachePolicy, _ asked: HTTPFields = [:], status: HTTPResponse.Status = .ok) -> Bool {
            let head = StoredHead(
                HTTPResponse(status: status, headerFields: fields), to: request, requestedAt: 100, receivedAt: 100)
            return policy.servesWhileRevalidating(head, asked: CacheControl(asked, isRequest: true), now: 105)
        }
        #expect(CachePolicy.allCases.filter { serves($0) } == [.useProtocol])
        #expect(!serves(.useProtocol, Self.asks))
        #expect(!serves(.useProtocol, [.cacheControl: "max-age=60"]))
        #expect(!serves(.useProtocol, status: .notFound))
    }

    private static func step(
        _ policy: CachePolicy, _ stored: HTTPFields?, _ asked: HTTPFields, age: Int = 0,
        status: HTTPResponse.Status = .ok
    ) throws -> CachePolicy.Step {
        let request = TransportRequest(url: try HTTPURL("http://example.com/a"))
        let head = stored.map {
            StoredHead(HTTPResponse(status: status, headerFields: $0), to: request, requestedAt: 100, receivedAt: 100)
        }
        return policy.step(stored: head, asked: CacheControl(asked, isRequest: true), now: 100 + age)
    }
}
