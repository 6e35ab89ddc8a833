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
    func followsTheEnvironment(variables: [String: String], url: String, expected: String?) throws {
        #expect(ProxyRule.environment(variables).proxy(for: try HTTPURL(url)) == expected)
    }

    @Test func aGivenProxyServesAll() throws {
        #expect(ProxyRule.url("http://p:1").proxy(for: try HTTPURL("https://localhost/")) == "http://p:1")
        #expect(ProxyRule.none.proxy(for: try HTTPURL("https://localhost/")) == nil)
    }
}
