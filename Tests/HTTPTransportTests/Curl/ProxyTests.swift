import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@testable import HTTPTransport

@Suite(.timeLimit(.minutes(1)))
struct ProxyTests {
    private func transport(_ proxy: LoopbackOrigin, user: String, password: String) -> CurlTransport {
        CurlTransport(
            configuration: .init(proxy: .url("http://127.0.0.1:\(proxy.port)", user: user, password: password)))
    }

    private func transport(_ proxy: ConnectProxy) -> CurlTransport {
        CurlTransport(configuration: .init(proxy: .url("http://127.0.0.1:\(proxy.port)")))
    }

    @Test func proxyReceivesItsCredential() async throws {
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
            #expect(error.description == "no credential was accepted (by the proxy)")
            // The origin does not receive the proxy's credential.
            #expect(proxy.recordedRequests.allSatisfy { $0.headerFields["authorization"] == nil })
        }
    }

    @Test func wrongProxyCredentialIsReportedAsProxyFailure() async throws {
        try await withConnectProxy(user: "me", password: "secret") { (proxy) async throws in
            let wrong = ProxyRule.url("http://127.0.0.1:\(proxy.port)", user: "me", password: "wrong")
            for rule in [wrong, .url("http://127.0.0.1:\(proxy.port)")] {
                let error = try #require(
                    try await CurlTransport(configuration: .init(proxy: rule)).fetch("https://nonexistent.invalid/") {
                        $0.credential = .basic(user: "me", password: "origins-own")
                    }.error)
                #expect(error.reason == .authenticationFailed)
                #expect(error.description == "no credential was accepted (by the proxy)")
                #expect(!error.isRetryable)
            }
            #expect(proxy.requests.count == 2)
            #expect(proxy.requests.allSatisfy { $0.headerFields["authorization"] == nil })
        }
    }

    @Test(arguments: [(403, false), (404, false), (408, true), (429, true), (502, true), (504, true)])
    func proxyRefusalIsReportedWithItsStatus(status: Int, isRetryable: Bool) async throws {
        try await withConnectProxy(.refusal(status: status)) { (proxy) async throws in
            let error = try #require(try await transport(proxy).fetch("https://nonexistent.invalid/").error)
            #expect(error.reason == .refusedByProxy(status: status))
            #expect(error.description == "the proxy refused to connect to the host (status \(status))")
            #expect(error.isRetryable == isRetryable)
            #expect(proxy.requests.count == 1)
        }
    }

    @Test(arguments: ["http", "https"])
    func unreachableProxyIsNamedInTheError(scheme: String) async throws {
        let port = try freePort()
        let transport = CurlTransport(
            configuration: .init(proxy: .url("http://me:secret@127.0.0.1:\(port)")))
        let error = try #require(try await transport.fetch("\(scheme)://nonexistent.invalid/").error)
        #expect(error.reason == .connectionFailed)
        #expect(error.description.hasPrefix("no connection could be made (to the proxy: "))
        #expect(error.description.contains("127.0.0.1 port \(port)"))
        #expect(!error.description.contains("secret"))
    }

    @Test func unknownProxyHostIsNamedInTheError() async throws {
        let transport = CurlTransport(
            configuration: .init(proxy: .url("http://me:secret@nonexistent.invalid:3128")))
        let error = try #require(try await transport.fetch("http://example.org/").error)
        #expect(error.reason == .connectionFailed)
        #expect(error.isRetryable)
        #expect(error.description.hasPrefix("no connection could be made (to the proxy: "))
        #expect(error.description.contains("nonexistent.invalid"))
        #expect(!error.description.contains("secret"))
    }

    @Test(arguments: [
        "ftp://me:secret@127.0.0.1:1", "http://me:secret@127.0.0.1:x", "me:secret@[zz]:1", "me:sec//ret@127.0.0.1:x",
    ])
    func invalidProxyIsNotRetryable(proxy: String) async throws {
        let transport = CurlTransport(configuration: .init(proxy: .url(proxy)))
        let error = try #require(try await transport.fetch("http://example.org/").error)
        #expect(error.reason == .invalidProxy)
        #expect(!error.isRetryable)
        #expect(error.description.hasPrefix("the configured proxy cannot be used ("))
        #expect(!error.description.contains("sec"))
    }

    @Test func silentProxyTimesOut() async throws {
        try await withConnectProxy(.silence) { (proxy) async throws in
            let error = try #require(
                try await transport(proxy).fetch("https://nonexistent.invalid/") {
                    $0.deadlines.connect = .milliseconds(200)
                }.error)
            #expect(error.reason == .timedOut(.connect))
            #expect(error.description == "the connection took too long (after 0.2 seconds, through the proxy)")
            #expect(error.isRetryable)
        }
    }
}
