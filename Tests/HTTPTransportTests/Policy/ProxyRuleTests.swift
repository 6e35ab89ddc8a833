import Testing

@testable import HTTPTransport

struct ProxyRuleTests {
    @Test(
        arguments: [
            (["http_proxy": "http://p:1"], "http://example.org/", "http://p:1"),
            (["http_proxy": "http://p:1"], "https://example.org/", nil),
            (["HTTP_PROXY": "http://p:1"], "http://example.org/", nil),
            (["https_proxy": "http://p:1"], "https://example.org/", "http://p:1"),
            (["HTTPS_PROXY": "http://p:1"], "https://example.org/", "http://p:1"),
            (["all_proxy": "http://p:1"], "http://example.org/", "http://p:1"),
            (["http_proxy": "", "ALL_PROXY": "http://p:1"], "http://example.org/", "http://p:1"),
            (["http_proxy": "http://p:1", "all_proxy": "http://p:2"], "http://example.org/", "http://p:1"),
            (["all_proxy": "http://p:1", "no_proxy": "*"], "http://example.org/", nil),
            (["all_proxy": "http://p:1", "no_proxy": "a.example, example.org"], "http://example.org/", nil),
            (["all_proxy": "http://p:1", "NO_PROXY": "Example.ORG"], "http://www.example.org/", nil),
            (["all_proxy": "http://p:1", "no_proxy": ".example.org"], "http://example.org/", nil),
            (["all_proxy": "http://p:1", "no_proxy": "example.org"], "http://badexample.org/", "http://p:1"),
            (["all_proxy": "http://p:1", "no_proxy": "::1"], "http://[::1]/", nil),
            (["all_proxy": "http://p:1", "no_proxy": ", ,"], "http://example.org/", "http://p:1"),
            ([:], "http://example.org/", nil),
        ] as [([String: String], String, String?)])
    func proxyIsSelectedFromTheEnvironment(variables: [String: String], url: String, expected: String?) throws {
        #expect(ProxyRule.environment(variables).proxy(for: try HTTPURL(url)) == expected)
    }

    @Test(
        arguments: [
            ("example.org:80", "http://example.org/", true), ("example.org:8080", "http://example.org/", false),
            ("example.org:8080", "http://www.example.org:8080/", true), ("example.org:x", "http://example.org/", false),
            ("example.org:", "http://example.org/", false), ("example.org.", "http://example.org/", true),
            ("example.org", "http://example.org./", true), (".", "http://example.org/", false),
            ("10.0.0.0/8", "http://10.255.255.255/", true), ("10.0.0.0/8", "http://11.0.0.0/", false),
            ("10.0.0.0/8", "http://0x0a.1/", true), ("10.0.0.0/33", "http://10.0.0.1/", false),
            ("10.0.0.0/8", "http://10.example/", false), ("10.0.0.1", "http://10.0.0.1:8080/", true),
            ("10.0.0.1:80", "http://10.0.0.1:8080/", false), ("0.0.1", "http://10.0.0.1/", false),
            ("fd00::/8", "http://[fd12::1]/", true), ("fd00::/8", "http://[fe80::1]/", false),
            ("[::1]", "http://[::1]:81/", true), ("[::1]:80", "http://[::1]/", true),
            ("[::1]:80", "http://[::1]:81/", false), ("[::1]x", "http://[::1]/", false),
            ("a.example 192.168.0.0/16,b.example", "http://192.168.255.255/", true),
        ] as [(String, String, Bool)])
    func proxyExceptionsSupportPortsAndAddressRanges(list: String, url: String, isExcepted: Bool) throws {
        let rule = ProxyRule.environment(["all_proxy": "http://p:1", "no_proxy": list])
        #expect(rule.proxy(for: try HTTPURL(url)) == (isExcepted ? nil : "http://p:1"))
    }

    @Test func configuredProxyIsUsedForAllURLs() throws {
        #expect(ProxyRule.url("http://p:1").proxy(for: try HTTPURL("https://localhost/")) == "http://p:1")
        #expect(ProxyRule.none.proxy(for: try HTTPURL("https://localhost/")) == nil)
    }
}
