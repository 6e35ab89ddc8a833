import Testing

@testable import HTTPTransport

struct NetworkPolicyTests {
    private func refusal(_ url: String, by policy: NetworkPolicy, throughProxy: Bool = false) throws -> String? {
        policy.refusal(of: try HTTPURL(url), throughProxy: throughProxy)?.description
    }

    @Test func networkPolicyWithoutRulesAllowsEverything() throws {
        #expect(NetworkPolicy().allowsAll)
        #expect(try refusal("http://127.0.0.1:1/", by: NetworkPolicy()) == nil)
    }

    @Test func firstMatchingNetworkRuleDecides() throws {
        let policy = NetworkPolicy(hosts: [.deny("bad.example.com"), .allow("*.example.com"), .denyOthers])
        #expect(try refusal("http://good.example.com/", by: policy) == nil)
        #expect(
            try refusal("http://bad.example.com/", by: policy) == "host bad.example.com, rule: deny bad.example.com")
        #expect(try refusal("http://example.org/", by: policy) == "host example.org, rule: deny all others")
    }

    @Test func networkPolicyChecksSchemesAndPorts() throws {
        let policy = NetworkPolicy(
            schemes: [.allow("https"), .denyOthers], ports: [.allow(443...443), .allow(8_000...8_999), .denyOthers])
        #expect(try refusal("https://example.org/", by: policy) == nil)
        #expect(try refusal("https://example.org:8080/", by: policy) == nil)
        #expect(try refusal("https://example.org:22/", by: policy) == "port 22, rule: deny all others")
        #expect(try refusal("http://example.org/", by: policy) == "scheme http, rule: deny all others")
    }

    @Test(arguments: ["http://１２７.1/", "http://127.0.0.1./", "http://2130706433。/", "http://0x7f.1./"])
    func unusualAddressNotationsAreChecked(url: String) throws {
        #expect(try refusal(url, by: NetworkPolicy(hosts: [.deny("127.0.0.1")])) != nil)
        var policy = NetworkPolicy.publicInternetOnly
        policy.resolvesNamesThroughProxy = true
        #expect(try refusal(url, by: policy, throughProxy: true) == "address 127.0.0.1, rule: deny 127.0.0.0/8")
    }

    @Test func namesAreSentToAProxyOnlyIfThePolicyAllowsIt() throws {
        var policy = NetworkPolicy.publicInternetOnly
        #expect(try refusal("http://example.org/", by: policy) == nil)
        #expect(try refusal("http://example.org/", by: policy, throughProxy: true) != nil)
        #expect(try refusal("http://8.8.8.8/", by: policy, throughProxy: true) == nil)
        policy.resolvesNamesThroughProxy = true
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
        "2001:0:808:808::80ff:fffe", "2001:0:808:808::f7f7:f7f7", "2001:1::1", "2001:1::2", "2001:1::3", "2001:1::4",
        "2001:2::1", "2001:3::1",
        "2001:4:111::1", "2001:10::1", "2001:2f::1", "2001:30::1", "2001:40::1", "2001:1ff::1", "2001:db8::1",
        "2002:7f00:1::1",
        "2002:a00:1::", "2a00:1450:4001::5efe:10.0.0.1", "2a00:1450:4001::200:5efe:192.168.0.1", "3fff::1", "4000::",
        "5f00::1", "fc00::1", "fdff::1", "fe80::1", "febf::1", "fec0::1", "ff02::1", "ff0e::1",
    ])
    func publicInternetPolicyRejectsNonpublicAddresses(address: String) throws {
        let address = try #require(IPAddress(address))
        #expect(NetworkPolicy.publicInternetOnly.refusal(of: address) != nil)
    }

    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.1",
        "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0",
        "198.17.255.255", "198.20.0.0", "223.255.255.255", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
        "192.31.196.1", "192.52.193.1", "192.175.48.1", "2001:4:112::1", "2001:200::1", "2620:4f:8000::1",
        "2001:4860:4860::8888", "2002:808:808::1", "2606:4700::1111", "2a00:1450:4001::5efe:8.8.8.8", "3ffe::1",
    ])
    func publicInternetPolicyAllowsPublicAddresses(address: String) throws {
        let address = try #require(IPAddress(address))
        #expect(NetworkPolicy.publicInternetOnly.refusal(of: address) == nil)
    }

    /// The first and the last address of each rejected block, and the public addresses before and after it.
    private static let refusedBlocks: [(first: IPAddress, last: IPAddress, before: IPAddress?, behind: IPAddress?)] = [
        ("0.0.0.0", "0.255.255.255", nil, "1.0.0.0"),
        ("10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"),
        ("100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"),
        ("127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"),
        ("169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"),
        ("172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"),
        ("192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"),
        ("192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"),
        ("192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"),
        ("192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"),
        ("198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"),
        ("198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"),
        ("203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"),
        ("224.0.0.0", "255.255.255.255", "223.255.255.255", nil),
        ("::", "64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff", nil, nil),
        ("64:ff9b::1:0:0", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nil, "2000::"),
        ("2001::", "2001:4:111:ffff:ffff:ffff:ffff:ffff", "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:4:112::"),
        ("2001:4:113::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:4:112:ffff:ffff:ffff:ffff:ffff", "2001:200::"),
        (
            "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
            "2001:db9::"
        ),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"),
        ("4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nil),
    ]

    @Test(arguments: refusedBlocks.indices)
    func nonpublicAddressBlocksAreRejectedUpToTheirBounds(index: Int) {
        let (first, last, before, behind) = Self.refusedBlocks[index]
        let policy = NetworkPolicy.publicInternetOnly
        let middle = first.bits + (last.bits - first.bits) / 2
        let middleAddress = first.isIPv4 ? IPAddress(v4: UInt32(middle)) : IPAddress(v6: middle)
        for address in [first, middleAddress, last] {
            #expect(policy.refusal(of: address) != nil, "\(address)")
        }
        for address in [before, behind].compactMap(\.self) {
            #expect(policy.refusal(of: address) == nil, "\(address)")
        }
    }

    @Test(arguments: [
        1, 7, 19, 22, 23, 25, 53, 110, 143, 465, 587, 995, 2_049, 5_061, 6_000, 6_379, 6_667, 10_080, 11_211,
    ])
    func publicInternetPolicyRejectsPortsOfOtherProtocols(port: Int) throws {
        for scheme in ["http", "https"] {
            #expect(
                try refusal("\(scheme)://example.org:\(port)/", by: .publicInternetOnly)
                    == "port \(port), rule: deny \(port)")
        }
        var policy = NetworkPolicy.publicInternetOnly
        policy.ports.insert(.allow(port...port), at: 0)
        #expect(try refusal("http://example.org:\(port)/", by: policy) == nil)
    }

    @Test(arguments: [18, 24, 80, 81, 443, 591, 3_000, 5_000, 8_000, 8_008, 8_080, 8_443, 10_081, 65_535])
    func publicInternetPolicyAllowsWebPorts(port: Int) throws {
        #expect(try refusal("http://example.org:\(port)/", by: .publicInternetOnly) == nil)
    }

    @Test func rejectionNamesTheRangeOfPorts() throws {
        let policy = NetworkPolicy(ports: [.deny(6_665...6_669)])
        #expect(try refusal("http://example.org:6667/", by: policy) == "port 6667, rule: deny 6665-6669")
    }

    @Test func rejectionNamesTheEmbeddedIPv4Address() throws {
        #expect(
            try refusal("http://[2002:7f00:1::]/", by: .publicInternetOnly)
                == "address 2002:7f00:1::, which holds 127.0.0.1, rule: deny 127.0.0.0/8")
    }

    @Test func insertedNetworkRuleAllowsAnException() throws {
        var policy = NetworkPolicy.publicInternetOnly
        policy.addresses.insert(.allow("10.0.0.5/32"), at: 0)
        #expect(try refusal("http://10.0.0.5/", by: policy) == nil)
        #expect(try refusal("http://10.0.0.6/", by: policy) == "address 10.0.0.6, rule: deny 10.0.0.0/8")
    }
}
