import Testing

@testable import HTTPTransport

struct NetworkPolicyTests {
    private func refusal(_ url: String, by policy: NetworkPolicy, throughProxy: Bool = false) throws -> String? {
        policy.refusal(of: try HTTPURL(url), throughProxy: throughProxy)?.description
    }

    @Test func allowsAllWithoutRules() throws {
        #expect(NetworkPolicy().allowsAll)
        #expect(try refusal("http://127.0.0.1:1/", by: NetworkPolicy()) == nil)
    }

    @Test func theFirstRuleThatAppliesDecides() throws {
        let policy = NetworkPolicy(hosts: [.deny("bad.example.com"), .allow("*.example.com"), .denyOthers])
        #expect(try refusal("http://good.example.com/", by: policy) == nil)
        #expect(
            try refusal("http://bad.example.com/", by: policy) == "host bad.example.com, rule: deny bad.example.com")
        #expect(try refusal("http://example.org/", by: policy) == "host example.org, rule: deny all others")
    }

    @Test func schemesAndPortsAreJudged() throws {
        let policy = NetworkPolicy(
            schemes: [.allow("https"), .denyOthers], ports: [.allow(443...443), .allow(8_000...8_999), .denyOthers])
        #expect(try refusal("https://example.org/", by: policy) == nil)
        #expect(try refusal("https://example.org:8080/", by: policy) == nil)
        #expect(try refusal("https://example.org:22/", by: policy) == "port 22, rule: deny all others")
        #expect(try refusal("http://example.org/", by: policy) == "scheme http, rule: deny all others")
    }

    @Test(arguments: ["http://１２７.1/", "http://127.0.0.1./", "http://2130706433。/", "http://0x7f.1./"])
    func addressesInDisguiseAreJudged(url: String) throws {
        #expect(try refusal(url, by: NetworkPolicy(hosts: [.deny("127.0.0.1")])) != nil)
        var policy = NetworkPolicy.publicInternetOnly
        policy.trustsProxy = true
        #expect(try refusal(url, by: policy, throughProxy: true) == "address 127.0.0.1, rule: deny 127.0.0.0/8")
    }

    @Test func namesGoThroughAProxyOnlyIfItIsTrusted() throws {
        var policy = NetworkPolicy.publicInternetOnly
        #expect(try refusal("http://example.org/", by: policy) == nil)
        #expect(try refusal("http://example.org/", by: policy, throughProxy: true) != nil)
        #expect(try refusal("http://8.8.8.8/", by: policy, throughProxy: true) == nil)
        policy.trustsProxy = true
        #expect(try refusal("http://example.org/", by: policy, throughProxy: true) == nil)
        #expect(try refusal("http://10.0.0.1/", by: policy, throughProxy: true) != nil)
        #expect(
            try refusal(
                "http://example.org/", by: NetworkPolicy(ports: [.deny(22...22)]),
                throughProxy: true) == nil)
    }

    @Test(arguments: [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254",
        "169.254.169.254",
        "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1",
        "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::2", "::127.0.0.1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:0:8.8.8.8",
        "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::8.8.8.8", "100::1", "1::", "2001:0:a01:203::f7f7:f7f7",
        "2001:0:808:808::80ff:fffe", "2001:2::1", "2001:10::1", "2001:2f::1", "2001:db8::1", "2002:7f00:1::1",
        "2002:a00:1::", "2a00:1450:4001::5efe:10.0.0.1", "2a00:1450:4001::200:5efe:192.168.0.1", "3fff::1", "4000::",
        "5f00::1", "fc00::1", "fdff::1", "fe80::1", "febf::1", "fec0::1", "ff02::1", "ff0e::1",
    ])
    func whatIsNotPublicIsRefused(address: String) throws {
        let address = try #require(IPAddress(address))
        #expect(NetworkPolicy.publicInternetOnly.refusal(of: address) != nil)
    }

    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.1",
        "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0",
        "198.17.255.255", "198.20.0.0", "223.255.255.255", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
        "2001:0:808:808::f7f7:f7f7",
        "2001:4860:4860::8888", "2002:808:808::1", "2606:4700::1111", "2a00:1450:4001::5efe:8.8.8.8", "3ffe::1",
    ])
    func whatIsPublicIsAllowed(address: String) throws {
        let address = try #require(IPAddress(address))
        #expect(NetworkPolicy.publicInternetOnly.refusal(of: address) == nil)
    }

    @Test func aHiddenAddressIsNamed() throws {
        #expect(
            try refusal("http://[2002:7f00:1::]/", by: .publicInternetOnly)
                == "address 2002:7f00:1::, which holds 127.0.0.1, rule: deny 127.0.0.0/8")
    }

    @Test func aDoorCanBeOpened() throws {
        var policy = NetworkPolicy.publicInternetOnly
        policy.addresses.insert(.allow("10.0.0.5/32"), at: 0)
        #expect(try refusal("http://10.0.0.5/", by: policy) == nil)
        #expect(try refusal("http://10.0.0.6/", by: policy) == "address 10.0.0.6, rule: deny 10.0.0.0/8")
    }
}
