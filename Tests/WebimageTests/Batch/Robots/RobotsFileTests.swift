import Testing

@testable import webimage

/// Groups, rules, and forms of robots.txt, as RFC 9309 defines them.
struct RobotsFileTests {
    private func allows(_ file: String, _ path: String, token: String = "webimage") -> Bool {
        RobotsFile.rules(of: Array(file.utf8), for: token).allow(path)
    }

    @Test(arguments: [
        "", "\n\n", "User-agent: *\nDisallow:", "Disallow: /", "User-agent: other\nDisallow: /",
        "<html>Not found</html>",
        "User-agent: *\nDisallow: /private", "User-agent: *\nDisallow /", ":", "user-agent:\ndisallow: /",
        "User-agent: webimage\nUser-agent: *\nAllow: /",
    ])
    func filesWithoutARuleForThePathAllowIt(file: String) {
        #expect(allows(file, "/a.jpg"))
    }

    @Test(arguments: [
        "User-agent: *\nDisallow: /", "user-AGENT:*\ndisALLOW:/", " User-agent : * # all\n Disallow : /a # this",
        "User-agent: *\rDisallow: /", "User-agent: *\r\n\r\nDisallow: /\r\n", "\u{FEFF}User-agent: *\nDisallow: /",
        "User-agent: other\nUser-agent: *\nDisallow: /", "User-agent: *\nSitemap: /s\nX\nDisallow: /",
        "User-agent: *\nSitemap: /s\nUser-agent: other\nDisallow: /", "User-agent: *\n\tDisallow:\t/\t",
        "User-agent: *\nDisallow: /b\n\nUser-agent: *\nDisallow: /a",
    ])
    func filesWithARuleForThePathDisallowIt(file: String) {
        #expect(!allows(file, "/a.jpg"))
    }

    @Test(arguments: ["webimage", "WebImage", "webimage/1.0", "webimage 1", "WEBIMAGE # comment"])
    func groupsAreChosenByProductToken(name: String) {
        #expect(!allows("User-agent: \(name)\nDisallow: /\n\nUser-agent: *\nDisallow: /b", "/a"))
        // The groups for all do not apply then.
        #expect(allows("User-agent: *\nDisallow: /\nUser-agent: \(name)\nDisallow: /b", "/a"))
        #expect(allows("User-agent: *\nDisallow: /\nUser-agent: \(name)", "/a"))
    }

    @Test(arguments: ["webimagebot", "web", "webimage-x", "xwebimage", ""])
    func groupsOfOtherTokensDoNotApply(name: String) {
        #expect(allows("User-agent: \(name)\nDisallow: /", "/a"))
    }

    @Test func tokensOfTheUserAreComparedWithoutVersion() {
        #expect(!allows("User-agent: MyBot2\nDisallow: /", "/a", token: "mybot2/3.0"))
        #expect(allows("User-agent: MyBot\nDisallow: /", "/a", token: "mybot2"))
        #expect(!allows("User-agent: *\nDisallow: /", "/a", token: "///"))
    }

    @Test func groupsOfOneTokenAreCombined() {
        let file =
            "User-agent: webimage\nDisallow: /a\n\nUser-agent: x\nDisallow: /b\n\nUser-agent: Webimage\nDisallow: /c"
        #expect(["/a", "/b", "/c"].map { allows(file, $0) } == [false, true, false])
    }

    @Test func mostSpecificRobotsRuleWins() {
        let file = "User-agent: *\nDisallow: /\nAllow: /images/\nDisallow: /images/private"
        #expect(!allows(file, "/a"))
        #expect(allows(file, "/images/a"))
        #expect(!allows(file, "/images/private/a"))
        #expect(allows("User-agent: *\nDisallow: /*.jpg\nAllow: /image*", "/image.jpg"))
        #expect(!allows("User-agent: *\nDisallow: /*.jpg$\nAllow: /image", "/image.jpg"))
    }

    @Test(arguments: [("/p", "/p"), ("/p*e", "/pag"), ("/p*e", "/*ge"), ("/page$", "/pag*e")])
    func allowingRuleWinsOverAnEquallySpecificOne(allowed: String, disallowed: String) {
        let rules = ["Allow: \(allowed)\n", "Disallow: \(disallowed)\n"]
        #expect(allows("User-agent: *\n" + rules.joined(), "/page"))
        #expect(allows("User-agent: *\n" + rules.reversed().joined(), "/page"))
    }

    @Test func emptyRuleEndsTheNamesOfAGroup() {
        for rule in ["Disallow:", "Allow:"] {
            #expect(allows("User-agent: webimage\n\(rule)\n\nUser-agent: *\nDisallow: /", "/a"))
            #expect(!allows("User-agent: *\n\(rule)\n\nUser-agent: webimage\nDisallow: /", "/a"))
        }
    }

    @Test func onlyTheFirst500KiBOfRobotsTextAreRead() {
        let beginning = "User-agent: *\nDisallow: /a\n"
        let comments = String(repeating: "#", count: RobotsFile.limit - beginning.utf8.count - 10)
        #expect(!allows(beginning + comments + "\nDisallow: /b", "/a"))
        #expect(allows(beginning + comments + "\nDisallow: /b", "/b"))
        #expect(!allows(beginning + comments.dropLast(10) + "\nDisallow: /b", "/b"))
        // A line that is cut off could mean something else.
        #expect(allows(beginning + comments.dropLast(2) + "\nDisallow: /b", "/c"))
        #expect(allows(String(repeating: "x", count: RobotsFile.limit + 1), "/a"))
    }

    @Test func pathsThatTakeTooManyComparisonsAreDisallowed() {
        let path = "/" + String(repeating: "a", count: 30_000)
        let line = "Allow: /*" + String(repeating: "a", count: 10_000) + "b\n"
        #expect(!allows("User-agent: *\n" + String(repeating: line, count: 40), path))
        #expect(allows("User-agent: *\n" + line, "/a.jpg"))
    }
}
