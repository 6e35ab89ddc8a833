import Testing

@testable import HTTPTransport

struct HTTPURLTests {
    @Test(arguments: [
        ("http://example.org", "http://example.org/"),
        ("HTTP://EXAMPLE.org/A", "http://example.org/A"),
        ("http:///example.org/a", "http://example.org/a"),
        ("http://example.org:80/a", "http://example.org/a"),
        ("https://example.org:443/a", "https://example.org/a"),
        ("https://example.org:80/a", "https://example.org:80/a"),
        ("http://example.org/a/../b/./c", "http://example.org/b/c"),
        ("http://example.org/a b", "http://example.org/a%20b"),
        ("http://example.org/ü", "http://example.org/%C3%BC"),
        ("http://example.org/a?q=a b#part", "http://example.org/a?q=a%20b"),
        ("http://[2001:DB8::1]:8080/x", "http://[2001:db8::1]:8080/x"),
        ("http://[::1]/", "http://[::1]/"),
        ("http://[FE80::1%25eth0]:80/", "http://[fe80::1%25eth0]/"),
        ("http://[fe80::1%eTh0]:81/", "http://[fe80::1%25eTh0]:81/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://0X7F.1/", "http://127.0.0.1/"),
        ("http://１２７.1/", "http://127.0.0.1/"),
        ("http://①２７．0。0x1/", "http://127.0.0.1/"),
        ("http://%31%32%37.1/", "http://127.0.0.1/"),
        ("http://127.0.0.1./", "http://127.0.0.1/"),
        ("http://0x7f.1./", "http://127.0.0.1/"),
        ("http://2130706433。:81/a", "http://127.0.0.1:81/a"),
        ("http://example.org./", "http://example.org./"),
        ("http://a_b.example/", "http://a_b.example/"),
        ("http://1a/", "http://1a/"),
        ("http://a~b/", "http://a~b/"), ("http://a%7Eb/", "http://a~b/"), ("http://a%25b/", "http://a%25b/"),
        ("http://Bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://user:secret@example.org/", "http://example.org/"),
        ("http://us%40er@example.org/", "http://example.org/"),
    ])
    func urlsAreParsedAndNormalized(text: String, expected: String) throws {
        let url = try HTTPURL(text)
        #expect(url.string == expected)
        // libcurl parses the URL again when it fetches it.
        let again = try HTTPURL(parsing: url.string)
        #expect(again.string == expected && again.host == url.host && again.port == url.port)
    }

    /// WHATWG URL, sections 4.4 and 1.3; signatures in queries stay as they are.
    @Test(arguments: [
        (" \u{1}\t\nhttp://example.org/a \r\n", "http://example.org/a"),
        ("ht\ntp://exa\tmple.org/a\r\nb", "http://example.org/ab"),
        ("http:\\\\example.org\\a\\b?c\\d", "http://example.org/a/b?c\\d"),
        ("http://example.org\\@other.example/", "http://example.org/@other.example/"),
        ("http://example.org/a\"b<c>d`e{f}g^h|i[j]'k", "http://example.org/a%22b%3Cc%3Ed%60e%7Bf%7Dg%5Eh|i[j]'k"),
        ("http://example.org/?a\"b<c>d`e{f}g^h|i[j]'k l", "http://example.org/?a%22b%3Cc%3Ed`e{f}g^h|i[j]%27k%20l"),
        ("http://example.org/x/%2e%2E/b/%2e/c", "http://example.org/b/c"),
        ("http://example.org/x/.%2e/y/%2E./b", "http://example.org/b"),
        ("http://example.org/x/%2e%2e", "http://example.org/"),
        ("http://example.org/%2e%2ea", "http://example.org/%2e%2ea"),
        ("http://example.org/?a=/%2e%2e/b", "http://example.org/?a=/%2e%2e/b"),
        ("http://example.org/a%zz%2fb%7E//;c=d", "http://example.org/a%zz%2fb%7E//;c=d"),
        ("http://example.org/?q=é&r=a+b", "http://example.org/?q=%C3%A9&r=a+b"),
        ("http://example.org/\u{1}\u{7F}", "http://example.org/%01%7F"),
        ("http://example.org/a#b c\"", "http://example.org/a"),
        (
            "https://s3.example/k?X-Amz-Credential=A%2F20260101%2fus&X-Amz-Signature=0aF%3D%3d+/=&e=~*!()",
            "https://s3.example/k?X-Amz-Credential=A%2F20260101%2fus&X-Amz-Signature=0aF%3D%3d+/=&e=~*!()"
        ),
    ])
    func urlsAreReadAsByBrowsers(text: String, expected: String) throws {
        let url = try HTTPURL(text)
        #expect(url.string == expected)
        #expect(try HTTPURL(parsing: expected).string == expected)
    }

    @Test(arguments: [
        ("\\b\\c", "http://example.org/b/c"), ("\\\\other.example\\b", "http://other.example/b"),
        (" /a b?c d ", "http://example.org/a%20b?c%20d"), ("?q='x'", "http://example.org/x/y?q=%27x%27"),
        ("%2e%2e/b", "http://example.org/b"), ("/a\tb\nc", "http://example.org/abc"),
        ("http:/b", "http://example.org/b"),
        ("http:b", "http://example.org/x/b"), ("https:/b", "https://b/"),
        ("HTTP://example.org:81", "http://example.org:81/"),
        ("/\"<>`{}^", "http://example.org/%22%3C%3E%60%7B%7D%5E"), ("\u{1}", "http://example.org/x/y"),
    ])
    func referencesAreReadAsByBrowsers(reference: String, expected: String) throws {
        #expect(try HTTPURL("http://example.org/x/y").resolving(reference.utf8).string == expected)
    }

    @Test func bytesOfAReferenceAreEncodedAsTheyAre() throws {
        let reference = "/caf".utf8 + [0xE9] + "?b=".utf8 + [0xFF]
        #expect(try HTTPURL("http://example.org/").resolving(reference).string == "http://example.org/caf%E9?b=%FF")
    }

    @Test(arguments: [
        "", " ", "example.org", "//example.org/", "/path", "http:", "http://", "http://:80/",
        "ftp://example.org/", "file:///etc/passwd", "javascript:alert(1)", "data:image/png;base64,AAAA",
        "http://example.org:99999/", "http://example.org:0/", "http://example.org:-1/", "http://example.org:a/",
        "http://[::1/", "http://[zz]/", "http://exa mple.org/", "http://example.org/\u{0}evil",
        "http://1.2.3.4.5/", "http://256.1.1.1/", "http://a.0x1/", "http://1.2.3.4.5./", "http://１.2.3.4.5/",
        "http://exa\u{0}mple.org", "http://12\u{FFFD}.example/",
        "http://a%7Fh1:080/", "http://a%7f/", "http://a%01.example/", "http://a%0d%0aHost:%20evil/", "http://a%00b/",
        "http://a%20b/", "http://a%2fb/", "http://a%40b/", "http://a%3a81/", "http://a%3fb/", "http://a%23b/",
        "http://a%5bb%5d/", "http://a%5cb/", "http://a%22b/", "http://a%3cb/",
        "http://a\u{7F}/", "http://a%c2%85.example/", "http://a%ff/",
        "http://example.org\r\nHost: evil", "\u{0}http://example.org/", "http://example.org/\u{0}", "http://\u{0}",
    ])
    func nonHTTPURLsAreRejected(text: String) {
        let error = #expect(throws: TransportError.self) { try HTTPURL(text) }
        #expect(error?.reason == .invalidURL)
        #expect(error?.description.hasPrefix("not a valid http or https URL") == true)
    }

    @Test func userAndPasswordAreRemovedFromTheURLText() throws {
        let url = try HTTPURL("http://us%40er:se%3Acret@example.org/a")
        #expect(url.user == "us@er")
        #expect(url.password == "se:cret")
        #expect("\(url)" == "http://example.org/a")
        let disguised = try HTTPURL("http://me:secret@１２７.1/")
        #expect(disguised.user == "me" && disguised.password == "secret" && disguised.host == "127.0.0.1")
    }

    @Test(arguments: [
        "http://user:secret@example.org:99999/", "http://user:sec/ret@example.org:x/", "ftp://user:secret@example.org/",
        "user:secret@example.org", "http:user:secret@example.org:x:y", "user:sec//ret@example.org:x",
        "user:sec://ret@example.org:x", "http://user:secret@\u{301}example.org:x/", "user:secret@\u{301}",
    ])
    func urlErrorsDoNotContainThePassword(text: String) {
        let error = #expect(throws: TransportError.self) { try HTTPURL(text) }
        #expect(error?.url.contains("sec") == false)
        #expect(error?.description.contains("sec") == false)
    }

    @Test(arguments: [
        ("http://user:secret@example.org/a?b#c", "http://example.org/a?b#c"),
        ("HTTP://user:secret@Example.org", "HTTP://Example.org"),
        ("https://token@example.org:444/a", "https://example.org:444/a"),
        ("http:///user:secret@example.org/", "http:///example.org/"),
        ("http://user:se%40cret@example.org/photo@2x.png", "http://example.org/photo@2x.png"),
        ("http://example.org/photo@2x.png", "http://example.org/photo@2x.png"),
        ("http://example.org/?mail=me@example.org#a@b", "http://example.org/?mail=me@example.org#a@b"),
        ("http://example.org", "http://example.org"), ("photo.png", "photo.png"), ("", ""),
        ("http://user:sec/ret@example.org:x/", "http://example.org:x/"),
        ("ftp://user:secret@example.org/a", "ftp://example.org/a"), ("user:secret@example.org", "example.org"),
    ])
    func displayTextOfURLHasNoUserInformation(text: String, expected: String) {
        #expect(HTTPURL.displayText(of: text) == expected)
    }

    @Test func displayTextOfURLWithPasswordOmitsOnlyThePassword() throws {
        let pieces = ["", "/", "\\", "@", ":", "?", "#", " ", "a", "%40", "\t", "//"]
        var shownOnes = 0
        for first in pieces {
            for second in pieces {
                for third in pieces {
                    let text = "http:\(first)//u\(second)ser:sec\(third)ret@example.org/a@2x"
                    guard let url = try? HTTPURL(text), url.password != nil else { continue }
                    shownOnes += 1
                    let shown = HTTPURL.displayText(of: text)
                    #expect(!shown.contains("ret@"), "\(text)")
                    #expect(try HTTPURL(shown).string == url.string)
                }
            }
        }
        #expect(shownOnes >= 20)
    }

    @Test func urlErrorsHaveNoControlCharacters() {
        let error = #expect(throws: TransportError.self) { try HTTPURL("http://\u{1B}[31m.example/") }
        #expect(error?.url == "http://?[31m.example/")
    }

    @Test(arguments: ["\u{85}", "\u{202E}", "\u{2066}", "\u{200D}", "\u{FEFF}", "\u{2028}", "\u{2029}", "\u{E000}"])
    func urlErrorsReplaceInvisibleCharacters(invisible: String) {
        let error = TransportError(
            url: "http://example.org/\(invisible)gpj.exe", reason: .authenticationFailed, detail: "é\(invisible)a")
        #expect(error.url == "http://example.org/?gpj.exe")
        #expect(error.detail == "é?a")
    }

    @Test func zonesSeparateOriginsAndConnections() throws {
        let first = try HTTPURL("http://[fe80::1%25eth0]/a")
        let second = try HTTPURL("http://[fe80::1%25eth1]/a")
        #expect(first.host == "[fe80::1]" && second.host == "[fe80::1]")
        #expect(first.origin == "http://[fe80::1%25eth0]:80")
        #expect(try !first.hasSameOrigin(as: second) && first.hasSameOrigin(as: first.resolving("/b".utf8)))
        #expect(try first.resolving("/b".utf8).string == "http://[fe80::1%25eth0]/b")
        #expect(ConnectionKey(first, proxy: nil) != ConnectionKey(second, proxy: nil))
    }

    @Test(arguments: [
        ("/b", "http://example.org/b"), ("b", "http://example.org/x/b"), ("../b", "http://example.org/b"),
        ("?q", "http://example.org/x/y?q"), ("//other.example/b", "http://other.example/b"),
        ("https://other.example", "https://other.example/"), ("a b", "http://example.org/x/a%20b"),
    ])
    func relativeReferencesAreResolved(reference: String, expected: String) throws {
        #expect(try HTTPURL("http://example.org/x/y").resolving(reference.utf8).string == expected)
    }

    /// RFC 3986, section 5.2.2: without its fragment.
    @Test(arguments: [
        "http://example.org/x/y", "http://example.org/x/y?q=1", "http://example.org/", "http://[::1]:8080/a?",
        "https://user:secret@example.org/x/y?q",
    ])
    func anEmptyReferenceIsTheURLItself(text: String) throws {
        let url = try HTTPURL(text)
        for reference in ["", "#fragment"] {
            #expect(try url.resolving(reference.utf8) == url)
            #expect(try HTTPURL(text + "#old").resolving(reference.utf8) == url)
        }
    }

    @Test func resolvedURLKeepsCredentialsWithinTheOrigin() throws {
        let url = try HTTPURL("http://user:secret@example.org/a")
        #expect(try url.resolving("/b".utf8).password == "secret")
        #expect(try url.resolving("https://example.org/b".utf8).user == nil)
        #expect(try url.resolving("http://example.org:81/b".utf8).user == nil)
        #expect(try url.resolving("http://other.example/b".utf8).user == nil)
        #expect(try url.resolving("http://me:mine@example.org/b".utf8).password == "secret")
        #expect(try url.resolving("http://me:mine@other.example/b".utf8).user == nil)
    }

    @Test(arguments: [
        ("http://example.org/a/b.jpg?x=/y", "b.jpg"), ("http://example.org", ""), ("http://example.org/a/", ""),
        ("http://[::1]:80/a", "a"), ("http://example.org/?a/b", ""),
    ])
    func lastPathComponentOfURLIsFound(text: String, expected: String) throws {
        #expect(try HTTPURL(text).lastPathComponent == expected)
    }

    @Test(
        arguments: [
            ("http://example.org/a/b.jpg?x=/y", "/a/b.jpg", "x=/y"), ("https://example.org", "/", nil),
            ("http://[::1]:80/a%20b?", "/a%20b", nil), ("http://example.org?a?b", "/", "a?b"),
        ] as [(String, String, String?)])
    func urlIsSplitIntoPathAndQuery(text: String, path: String, query: String?) throws {
        let url = try HTTPURL(text)
        #expect(url.path == path)
        #expect(url.query.map(String.init) == query)
    }
}
