import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPTransport

/// https through an HTTP proxy (CONNECT), to `photos.example`, whose addresses cannot be resolved locally.
@Suite(.enabled(if: NginxServer.isAvailable, "nginx and openssl are needed"), .timeLimit(.minutes(1)))
struct TunnelTests {
    private func transport(
        _ rule: ProxyRule, trusting server: SecureServer? = nil, policy: NetworkPolicy = NetworkPolicy()
    ) -> CurlTransport {
        CurlTransport(
            configuration: .init(
                proxy: rule, tls: TLSOptions(certificateAuthorityFile: server?.certificateAuthorityFile),
                policy: policy,
                resolver: ThreadedResolver { host throws(LookupFailure) in
                    Issue.record("\(host) was looked up")
                    throw LookupFailure(message: "not here")
                }))
    }

    private func rule(_ proxy: ConnectProxy) -> ProxyRule { .url("http://127.0.0.1:\(proxy.port)") }

    private func isRefusal(_ error: TransportError?) -> Bool {
        if case .refusedByPolicy? = error?.reason { true } else { false }
    }

    @Test func tunnelSendsEachCredentialOnlyToItsServer() async throws {
        let server = try await SecureServer()
        try await withConnectProxy(user: "me", password: "s:cret") { (proxy) async throws in
            let rule = ProxyRule.url("http://127.0.0.1:\(proxy.port)", user: "me", password: "s:cret")
            let record = try await transport(rule, trusting: server)
                .fetch("https://photos.example:\(server.port)/heard") {
                    $0.headerFields[.authorization] = "Bearer origins-own"
                    $0.headerFields[.cookie] = "a=b"
                }
            #expect(String(decoding: record.body, as: UTF8.self) == "|Bearer origins-own|a=b")
            let request = try #require(proxy.requests.first)
            #expect(proxy.requests.count == 1)
            #expect(request.method == "CONNECT")
            #expect(request.target == "photos.example:\(server.port)")
            let right = "Basic " + Data("me:s:cret".utf8).base64EncodedString()
            #expect(request.headerFields["proxy-authorization"] == right)
            #expect(request.headerFields["authorization"] == nil && request.headerFields["cookie"] == nil)
        }
    }

    @Test(arguments: ["HTTP/1.1", "HTTP/2"])
    func proxyTunnelIsReused(protocolName: String) async throws {
        let server = try await SecureServer()
        let port = protocolName == "HTTP/2" ? server.port : server.portOfHTTP1
        try await withConnectProxy { (proxy) async throws in
            let transport = transport(rule(proxy), trusting: server)
            for number in 0..<3 {
                let record = try await transport.fetch("https://photos.example:\(port)/big")
                #expect(record.body == SecureServer.big)
                #expect(record.metrics?.protocolName == protocolName)
                #expect(record.metrics?.reusedConnection == (number > 0))
            }
            #expect(proxy.requests.map(\.target) == ["photos.example:\(port)"])
        }
    }

    @Test func transfersShareAProxyTunnelByHTTP2() async throws {
        let server = try await SecureServer()
        try await withConnectProxy { (proxy) async throws in
            let transport = transport(rule(proxy), trusting: server)
            let url = "https://photos.example:\(server.port)/small"
            let bodies = try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for _ in 0..<50 { group.addTask { try await transport.fetch(url).body } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(bodies.allSatisfy { $0 == SecureServer.small })
            #expect(proxy.requests.count == 1)
        }
    }

    @Test func originCertificateIsVerifiedThroughATunnel() async throws {
        let server = try await SecureServer()
        try await withConnectProxy { (proxy) async throws in
            let url = "https://photos.example:\(server.port)/small"
            #expect(try await transport(rule(proxy)).fetch(url).error?.reason == .tlsFailure)
            let other = "https://other.example:\(server.port)/small"
            #expect(try await transport(rule(proxy), trusting: server).fetch(other).error?.reason == .tlsFailure)
        }
    }

    @Test func status407OfAnOriginIsNotAProxyFailure() async throws {
        let server = try await SecureServer()
        try await withConnectProxy { (proxy) async throws in
            let rule = ProxyRule.url("http://127.0.0.1:\(proxy.port)", user: "me", password: "secret")
            let record = try await transport(rule, trusting: server).fetch(
                "https://photos.example:\(server.port)/407")
            #expect(record.head?.status.code == 407)
            #expect(record.isComplete)
        }
    }

    @Test func addressPolicyRejectsNamesThroughATunnel() async throws {
        let server = try await SecureServer()
        try await withConnectProxy { (proxy) async throws in
            let url = "https://photos.example:\(server.port)/small"
            var policy = NetworkPolicy.publicInternetOnly
            let wary = transport(rule(proxy), trusting: server, policy: policy)
            for refused in [url, "https://127.0.0.1:\(server.port)/small", "https://localhost:\(server.port)/small"] {
                #expect(isRefusal(try await wary.fetch(refused).error))
            }
            #expect(proxy.requests.isEmpty)
            policy.resolvesNamesThroughProxy = true
            let trusting = transport(rule(proxy), trusting: server, policy: policy)
            for _ in 0..<2 { #expect(try await trusting.fetch(url).body == SecureServer.small) }
            // Addresses in URLs need no lookup.
            #expect(isRefusal(try await trusting.fetch("https://127.0.0.1:\(server.port)/small").error))
            #expect(isRefusal(try await trusting.fetch("https://photos.example:\(server.port)/inward").error))
            #expect(proxy.requests.map(\.target) == ["photos.example:\(server.port)"])
        }
    }
}
