import Testing

@testable import HTTPTransport

struct IPAddressTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"),
        ("::", "::"), ("::1", "::1"), ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"), ("::ffff:10.1.2.3", "10.1.2.3"),
        ("::ffff:a01:203", "10.1.2.3"), ("64:ff9b::10.1.2.3", "64:ff9b::a01:203"),
    ])
    func ipAddressesAreParsedAndFormatted(text: String, expected: String) throws {
        #expect(try #require(IPAddress(text)).description == expected)
    }

    @Test(arguments: [
        "", "1", "127.1", "127.0.0.256", "127.0.0.1.2", "0177.0.0.1", "0x7f.0.0.1", " 127.0.0.1", "127.0.0.1\u{0}",
        "[::1]", "fe80::1%eth0", ":::", "1::2::3", "localhost",
    ])
    func invalidIPAddressesAreRejected(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test(arguments: [
        ("http://127.0.0.1/", "127.0.0.1"), ("http://0x7f.1/", "127.0.0.1"), ("http://2130706433/", "127.0.0.1"),
        ("http://0177.0.0.1/", "127.0.0.1"), ("http://127.1/", "127.0.0.1"), ("http://0/", "0.0.0.0"),
        ("http://0x7F000001/", "127.0.0.1"), ("http://[::1]/", "::1"), ("http://[0:0:0:0:0:0:0:1]/", "::1"),
        ("http://[::ffff:127.0.0.1]/", "127.0.0.1"), ("http://[fe80::1%25eth0]/", "fe80::1"),
        ("http://１２７.0.0.1/", "127.0.0.1"), ("http://example.org/", nil), ("http://127.0.0.1.example/", nil),
    ])
    func ipAddressesInURLsAreParsedInAnyNotation(url: String, expected: String?) throws {
        #expect(IPAddress(urlHost: try HTTPURL(url).host)?.description == expected)
    }

    @Test(
        arguments: [
            ("1.2.3.4", []), ("2001:db9::1", []), ("::", []), ("::1", []),
            ("::127.0.0.1", ["127.0.0.1"]),
            ("::ffff:0:127.0.0.1", ["127.0.0.1"]),
            ("2002:7f00:1::", ["127.0.0.1"]),
            ("2002:a01:203:4::5", ["10.1.2.3"]),
            ("64:ff9b::7f00:1", ["127.0.0.1"]),
            ("64:ff9b:1:7f00:0:100::", ["127.0.0.1", "0.0.0.0"]),
            ("64:ff9b:1::127.0.0.1", ["0.0.0.0", "127.0.0.1"]),
            ("2001:0:a01:203::80ff:fffe", ["10.1.2.3", "127.0.0.1"]),
            ("2a00::5efe:127.0.0.1", ["127.0.0.1"]),
            ("2a00::200:5efe:127.0.0.1", ["127.0.0.1"]),
            ("2a00::100:5efe:127.0.0.1", []),
        ] as [(String, [String])])
    func embeddedIPv4AddressesAreFound(text: String, expected: [String]) throws {
        #expect(try #require(IPAddress(text)).embedded.map(\.description) == expected)
    }
}
