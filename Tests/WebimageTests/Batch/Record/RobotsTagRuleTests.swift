import Testing

@testable import webimage

struct RobotsTagRuleTests {
    private let rule = RobotsTagRule(
        disallowed: ["noai", "noimageai", "noindex", "noimageindex"], names: ["webimage", "mybot"])

    @Test(arguments: [
        "noai", "NoAI", " noindex ", "nofollow, noimageai", "none", "noai, unavailable_after: 25 Jun 2030 15:00:00 PST",
        "unavailable_after: Tue, 25 Jun 2030 15:00:00 GMT, noai", "mybot: noai",
        "otherbot: noai, webimage: nofollow, noindex",
        "max-snippet: 5, noimageindex", "max-image-preview:large,noai",
    ])
    func robotsTagRejectsDisallowedImages(value: String) {
        #expect(rule.refusal(in: value) != nil)
    }

    @Test(arguments: [
        "", "all", "index", "nofollow", "otherbot: noai", "otherbot: nofollow, noai", "noaid", "max-snippet: 5",
        "unavailable_after: 25 Jun 2030 15:00:00 PST", "noarchive, nosnippet", ",,", ":", "mybot: all, otherbot: none",
    ])
    func robotsTagAcceptsOtherImages(value: String) {
        #expect(rule.refusal(in: value) == nil)
    }

    @Test func robotsTagNoneDoesNotImplyNoAI() {
        let rule = RobotsTagRule(disallowed: ["noai"], names: [])
        #expect(rule.refusal(in: "none") == nil)
        #expect(rule.refusal(in: "none, noai") == "noai")
    }
}
