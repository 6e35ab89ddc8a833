import Testing

@testable import webimage

/// Path patterns, with the examples of RFC 9309 and of its most common implementations.
struct RobotsPatternTests {
    private func matches(_ pattern: String, _ path: String) -> Bool? {
        var budget = 1_000
        return RobotsPattern(pattern.utf8).matches(RobotsPattern.normalized(path.utf8), budget: &budget)
    }

    @Test(arguments: [
        ("/", "/"), ("/", "/fish"), ("/fish", "/fish"), ("/fish", "/fish.html"), ("/fish", "/fishheads/yummy.html"),
        ("/fish", "/fish.php?id=anything"), ("/fish*", "/fish.html"), ("/fish/", "/fish/?id=1"), ("/*", "/x"),
        ("*", "/x"), ("*/y", "/x/y"), ("/*.php", "/index.php"), ("/*.php", "/folder/any.php.file.html"),
        ("/*.php$", "/filename.php"), ("/*.php$", "/a.php/b.php"), ("/fish*.php", "/fishheads/catfish.php?p"),
        ("/a**b", "/ab"), ("/a$", "/a"), ("/a*$", "/abc"), ("/*a*b*c$", "/xxaxbbxcxc"), ("/$", "/"),
        ("/foo/bar?baz=quux", "/foo/bar?baz=quux"), ("/foo/bar/\u{30C4}", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84"), ("/foo/bar/%62%61%7A", "/foo/bar/baz"), ("/baz", "/%62a%7a"),
        ("/a-%2A.html", "/a-*.html"), ("/a-%24", "/a-$"), ("/a$b", "/a$bc"), ("/%7Euser", "/~user"),
        ("/a%2fb", "/a%2Fb"),
        ("/a b", "/a%20b"), ("/100%", "/100%"), ("/%4", "/%4"), ("", "/"),
    ])
    func robotsPatternMatchesPath(pattern: String, path: String) {
        #expect(matches(pattern, path) == true)
    }

    @Test(arguments: [
        ("/fish", "/Fish.asp"), ("/fish", "/catfish"), ("/fish", "/?id=fish"), ("/fish/", "/fish"),
        ("/*.php", "/windows.PHP"),
        ("/*.php$", "/filename.php?parameters"), ("/*.php$", "/filename.php/"), ("/*.php$", "/filename.php5"),
        ("/fish*.php", "/Fish.PHP"), ("/a$", "/ab"), ("fish", "/fish"), ("/a%2Fb", "/a/b"), ("/a-%2A", "/a-b"),
        ("/*a*b", "/ba"),
        ("/$", "/a"), ("/a$b", "/a"), ("/aa*aa$", "/aaa"), ("$", "/"),
    ])
    func robotsPatternDoesNotMatchOtherPath(pattern: String, path: String) {
        #expect(matches(pattern, path) == false)
    }

    @Test func robotsPatternMatchingEndsAtTheComparisonLimit() {
        let path = String(repeating: "a", count: 100)
        #expect(matches("*" + String(repeating: "a", count: 50) + "b", path) == nil)
    }

    @Test(arguments: [("/a", 2), ("/a*", 3), ("/a*$", 4), ("/%61", 2), ("", 0)])
    func specificityOfARobotsPatternIsItsNumberOfOctets(pattern: String, count: Int) {
        #expect(RobotsPattern(pattern.utf8).count == count)
    }
}
