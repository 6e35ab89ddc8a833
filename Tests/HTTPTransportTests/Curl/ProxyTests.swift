import Foundation
import LoopbackOrigin
import Testing

@testable import HTTPTransport

@Suite(.timeLimit(.minutes(1)))
struct ProxyTests {
    private func transport(_ proxy: LoopbackOrigin, user: String, password: String) -> CurlTransport {
        CurlTransport(
            configuration: .init(proxy: .url("http://127.0.0.1:\(proxy.port)", user: user, password: password)))
    }

    @Test func isToldWhoAsks() async throws {
        try await withLoopbackOrigin { (proxy) async throws in
            let (user, password) = ("m@e;ü", "s/e%c#r:et")
            let right = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
            let url = "http://nonexistent.invalid/a"
            proxy.route(url) { request in
                request.headerFields["proxy-authorization"] == right
                    ? LoopbackOrigin.Response(body: [9])
                    : LoopbackOrigin.Response(status: 407, headerFields: ["Proxy-Authenticate": "Basic realm=\"p\""])
            }
            let known = transport(proxy, user: user, password: password)
            #expect(try await known.fetch(url).body == [9])
            let unknown = transport(proxy, user: "me", password: "wrong")
            let error = try #require(try await unknown.fetch(url).error)
            #expect(error.reason == .authenticationFailed)
            #expect(error.description == "the credential was not accepted (by the proxy)")
            // The origin hears nothing of it.
            #expect(proxy.recordedRequests.allSatisfy { $0.headerFields["authorization"] == nil })
        }
    }

    @Test func mayRefuseATunnel() async throws {
        try await withLoopbackOrigin { (proxy) async throws in
            proxy.route(
                "nonexistent.invalid:443",
                LoopbackOrigin.Response(status: 407, headerFields: ["Proxy-Authenticate": "Basic realm=\"p\""]))
            let error = try await transport(proxy, user: "me", password: "wrong")
                .fetch("https://nonexistent.invalid/a").error
            #expect(error?.reason == .authenticationFailed)
            #expect(error?.isRetryable == false)
            #expect(proxy.recordedRequests.first?.headerFields["proxy-authorization"] == "Basic bWU6d3Jvbmc=")
        }
    }
}
