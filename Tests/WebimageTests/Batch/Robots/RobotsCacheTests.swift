import AsyncWebImage
import Testing

@testable import webimage

struct RobotsCacheTests {
    private let rules = RobotsCache.Outcome.rules(.none)
    private let failure = RobotsCache.Outcome.unreachable(ImageRefusal(code: .robotsText, description: "HTTP 503"))

    @Test func rulesApplyForADayAndFailuresForTenMinutes() {
        var cache = RobotsCache()
        cache.add(rules, of: "a", at: .seconds(5))
        cache.add(failure, of: "b", at: .seconds(5))
        #expect(cache.outcome(of: "b", at: .seconds(604)) == failure)
        #expect(cache.outcome(of: "b", at: .seconds(605)) == nil)
        #expect(cache.outcome(of: "a", at: .seconds(86_404)) == rules)
        #expect(cache.outcome(of: "a", at: .seconds(86_405)) == nil)
        #expect(cache.outcome(of: "c", at: .zero) == nil)
    }

    @Test func useDoesNotExtendTheLifetimeOfARobotsFile() {
        var cache = RobotsCache()
        cache.add(failure, of: "a", at: .zero)
        for number in 0..<RobotsCache.maximumCount / 2 { cache.add(rules, of: "\(number)", at: .zero) }
        #expect(cache.outcome(of: "a", at: .seconds(599)) == failure)
        #expect(cache.outcome(of: "a", at: .seconds(600)) == nil)
    }

    @Test func theNumberOfOriginsIsBounded() {
        var cache = RobotsCache()
        cache.add(failure, of: "used", at: .zero)
        for number in 0..<3 * RobotsCache.maximumCount {
            cache.add(rules, of: "\(number)", at: .zero)
            // An origin that is used remains.
            if number % 1_000 == 0 { #expect(cache.outcome(of: "used", at: .zero) == failure) }
        }
        #expect(cache.count <= RobotsCache.maximumCount)
        #expect(cache.outcome(of: "0", at: .zero) == nil)
    }

    @Test func theSizeOfAllRulesIsBounded() {
        let file = "User-agent: *\nDisallow: /" + String(repeating: "a", count: 400_000)
        let large = RobotsCache.Outcome.rules(RobotsFile.rules(of: Array(file.utf8), for: "webimage"))
        var cache = RobotsCache()
        for number in 0..<1_000 { cache.add(large, of: "\(number)", at: .zero) }
        #expect(cache.count <= RobotsCache.maximumBytes / 400_000)
        #expect(cache.outcome(of: "999", at: .zero) == large)
    }
}
