import HTTPTransport
import Testing

struct HostPatternTests {
    @Test(arguments: [
        ("example.com", "http://example.com/", true), ("example.com", "http://EXAMPLE.com./", true),
        ("Example.COM.", "http://example.com/", true), ("example.com", "http://www.example.com/", false),
        ("example.com", "http://badexample.com/", false), ("*.example.com", "http://www.example.com/", true),
        ("*.example.com", "http://a.b.example.com/", true), ("*.example.com", "http://example.com/", false),
        ("*.example.com", "http://badexample.com/", false), ("*.example.com", "http://example.com.evil.org/", false),
        ("bücher.example", "http://xn--bcher-kva.example/", true), ("127.0.0.1", "http://0x7f.1/", true),
        ("[::1]", "http://[::1]/", true), ("127.0.0.1", "http://[::ffff:127.0.0.1]/", true),
        ("127.0.0.1", "http://[::ffff:7f00:1]/", true), ("[::ffff:7f00:1]", "http://127.0.0.1/", true),
        ("127.0.0.1", "http://127.0.0.2/", false),
        ("*", "http://example.com/", true), ("*", "http://[::1]/", true), ("127.0.0.1", "http://example.com/", false),
    ])
    func hostPatternMatchesAHostOrASubdomain(pattern: String, url: String, expected: Bool) throws {
        #expect(try #require(HostPattern(pattern)).matches(try HTTPURL(url).host) == expected)
    }

    @Test func patternsOfOneAddressAreEqual() {
        #expect(Set<HostPattern>(["127.0.0.1", "[::ffff:7f00:1]", "[::ffff:127.0.0.1]"]).count == 1)
        #expect(Set<HostPattern>(["127.0.0.1", "127.0.0.2", "a.example", "*.a.example"]).count == 4)
    }

    @Test(arguments: [
        "", "**", "*.", "*.*.example", "a*.example", "a/b", "user@host", "host:80", "a b", "http://a/",
        "?",
    ])
    func invalidHostPatternsAreRejected(text: String) {
        #expect(HostPattern(text) == nil)
    }
}
