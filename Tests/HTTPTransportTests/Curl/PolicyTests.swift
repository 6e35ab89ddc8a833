import CCurl
import LoopbackOrigin
import Testing

@testable import HTTPTransport

@Suite(.timeLimit(.minutes(1)))
struct PolicyTests {
    private func transport(
        _ policy: NetworkPolicy, addresses: [IPAddress] = [], proxy: ProxyRule = .none
    ) -> CurlTransport {
        CurlTransport(
            configuration: .init(proxy: proxy, policy: policy, resolver: ThreadedResolver { _ in addresses }))
    }

    private func isRefusal(_ error: TransportError?) -> Bool {
        guard let error, case .refusedByPolicy = error.reason else { return false }
        return !error.isRetryable
    }

    @Test(arguments: ["127.0.0.1", "0x7f.1", "2130706433", "0177.0.0.1", "[::ffff:127.0.0.1]", "name.example"])
    func deniedAddressIsNotConnectedTo(host: String) async throws {
        try await withLoopbackOrigin { (origin) async throws in
            let transport = transport(.publicInternetOnly, addresses: ["127.0.0.1", "::1"])
            let error = try await transport.fetch("http://\(host):\(origin.port)/").error
            #expect(isRefusal(error))
            #expect(
                error?.description
                    == "not allowed by the network policy (address 127.0.0.1, rule: deny 127.0.0.0/8)")
            #expect(origin.counts.openedConnections == 0)
        }
    }

    @Test func networkPolicyAppliesToRedirects() async throws {
        try await withLoopbackOrigin { (origin) async throws in
            let policy = NetworkPolicy(addresses: [.deny("127.0.0.2")])
            let transport = transport(policy, addresses: ["127.0.0.2"])
            for host in ["127.0.0.2", "name.example"] {
                origin.route("/a", .redirect(to: "http://\(host):\(origin.port)/b"))
                let error = try await transport.fetch(origin.url("/a")).error
                #expect(isRefusal(error))
                #expect(error?.url == "http://\(host):\(origin.port)/b")
            }
        }
    }

    @Test func onlyAllowedAddressesOfAHostAreTried() async throws {
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: [1]))
            let url = "http://name.example:\(origin.port)/a"
            let good = transport(
                NetworkPolicy(addresses: [.allow("127.0.0.1"), .denyOthers]),
                addresses: ["::1", "127.0.0.2", "127.0.0.1", "127.0.0.3"])
            #expect(try await good.fetch(url).body == [1])
            #expect(origin.counts.openedConnections == 1)
            // No server listens at the allowed address.
            let bad = transport(
                NetworkPolicy(addresses: [.deny("127.0.0.1")]), addresses: ["127.0.0.1", "127.0.0.2"])
            #expect(try await bad.fetch(url).error?.reason == .connectionFailed)
            #expect(origin.counts.openedConnections == 1)
        }
    }

    @Test func networkPolicyAppliesToReusedConnections() throws {
        let transport = transport(NetworkPolicy())
        let request = TransportRequest(url: try HTTPURL("http://name.example/"))
        let handle = TransferHandle(
            worker: try transport.firstWorker(), id: 1, request: request, receiver: Recorder(), connectionKey: nil)
        let transfer = ActiveTransfer(handle, deadlines: DeadlineWatch(), shares: ThreadTimeShares())
        let easy = try CurlEasy(.init(proxy: .none))
        let exchange = CurlExchange(transfer, on: easy, connectsOnly: false)
        #expect(exchange.mayUseConnection(to: IPAddress("8.8.8.8"), by: .publicInternetOnly))
        #expect(!exchange.mayUseConnection(to: IPAddress("10.0.0.1"), by: .publicInternetOnly))
        guard case .failed(let error) = transfer.outcome(exchange.end(CURLE_ABORTED_BY_CALLBACK)) else {
            Issue.record("no failure")
            return
        }
        #expect(isRefusal(error))
    }

    @Test func networkPolicyDoesNotApplyToTheProxyItself() async throws {
        try await withLoopbackOrigin { (proxy) async throws in
            var policy = NetworkPolicy.publicInternetOnly
            let rule = ProxyRule.url("http://127.0.0.1:\(proxy.port)")
            let url = "http://name.example/a"
            proxy.route(url, LoopbackOrigin.Response(body: [9]))
            #expect(isRefusal(try await transport(policy, proxy: rule).fetch(url).error))
            #expect(proxy.counts.openedConnections == 0)
            policy.resolvesNamesThroughProxy = true
            let trusting = transport(policy, proxy: rule)
            for _ in 0..<2 { #expect(try await trusting.fetch(url).body == [9]) }
            #expect(isRefusal(try await trusting.fetch("http://10.0.0.1/").error))
        }
    }
}
