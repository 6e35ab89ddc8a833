import HTTPSemantics
import HTTPTransport
import HTTPTypes
import Testing

@testable import ResponseCache

/// RFC 9111, section 4: when a stored response is used, asked for, or passed over.
@Suite struct CachePolicyTests {
    private static let asks: HTTPFields = [.cacheControl: "no-cache"]
    private static let fresh: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"a\""]
    private static let stale: HTTPFields = [.eTag: "\"a\""]
    private static let bare: HTTPFields = [:]

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
    func step(policy: CachePolicy, stored: HTTPFields?, step: CachePolicy.Step) throws {
        #expect(try Self.step(policy, stored, [:]) == step)
    }

    @Test func requestsMayWantFresher() throws {  // 5.2.1
        #expect(try Self.step(.useProtocol, Self.fresh, Self.asks) == .validate)
        #expect(try Self.step(.useProtocol, Self.fresh, [.cacheControl: "max-age=5"], age: 6) == .validate)
        #expect(try Self.step(.useProtocol, Self.fresh, [.cacheControl: "max-age=5"], age: 5) == .serve)
    }

    private static func step(
        _ policy: CachePolicy, _ stored: HTTPFields?, _ asked: HTTPFields, age: Int = 0
    ) throws -> CachePolicy.Step {
        let request = TransportRequest(url: try HTTPURL("http://example.com/a"))
        let head = stored.map {
            StoredHead(HTTPResponse(status: .ok, headerFields: $0), to: request, requestedAt: 100, receivedAt: 100)
        }
        return policy.step(stored: head, asked: CacheControl(asked, isRequest: true), now: 100 + age)
    }
}
