import Testing

@testable import HTTPTransport

struct PlainURLTests {
    @Test(arguments: [
        "http://example.org/", "https://example.org/a/b.jpg?width=10&x=1,2;y=!*+~",
        "http://127.0.0.1:8080/10k.bin?n=17",
        "https://a-b.c1.example:444/A_b/c.d/", "http://x/", "http://localhost:1/:a", "http://example.org//a/?b/c",
        "http://255.255.255.255/", "http://0.0.0.0:65535/", "http://1.2.3.example/",
    ])
    func simpleURLsAreParsedLikeLibcurl(text: String) throws {
        let plain = try #require(PlainURL(text))
        let parsed = try HTTPURL(parsing: text)
        #expect(parsed.string == text)
        #expect((plain.scheme, plain.host, plain.port) == (parsed.scheme, parsed.host, parsed.port))
        #expect(try HTTPURL(text) == parsed)
    }

    @Test(arguments: [
        "http://example.org", "HTTP://example.org/", "http://Example.org/", "http://example.org:80/",
        "https://example.org:443/", "http://example.org:080/", "http://example.org:0/", "http://example.org:65536/",
        "http://example.org:/", "http://user@example.org/", "http://example.org/a@b", "http://example.org/%41",
        "http://example.org/a b", "http://example.org/#a", "http://example.org/./a", "http://example.org/a/../b",
        "http://example.org/.a", "http://[::1]/", "http://127.1/", "http://0x7f.0.0.1/", "http://127.0.0.01/",
        "http://2130706433/", "http://1.2.3.4.5/", "http://256.1.1.1/", "http://example.org./", "http://.example.org/",
        "http://a..b/", "http://-a.example/", "http:///a", "http://example.org\\a", "http://example.org/\u{0}",
        "http://example.org/?", "http://example.org/ü", "http://bücher.example/", "ftp://example.org/", "http://0x/",
        "http://1.0x1/", "",
    ])
    func otherURLsAreParsedByLibcurl(text: String) {
        #expect(PlainURL(text) == nil)
    }

    @Test func bothURLParsersAgree() {
        let pieces = [
            "", "a", "z.", "1", "0x", "255.", ".", "-", ":80", ":81", "/", "/.", "?", "%", "@", "A", " ", "[", "\\",
        ]
        var plainOnes = 0
        for first in pieces {
            for second in pieces {
                for text in pieces.map({ "http://\(first)b\(second)\($0)/" }) {
                    guard let plain = PlainURL(text) else { continue }
                    plainOnes += 1
                    let parsed = try? HTTPURL(parsing: text)
                    #expect(parsed?.string == text && parsed?.host == plain.host && parsed?.port == plain.port)
                }
            }
        }
        #expect(plainOnes > 100)
    }
}
