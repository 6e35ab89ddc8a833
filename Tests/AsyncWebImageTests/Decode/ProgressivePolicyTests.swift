import Testing

@testable import AsyncWebImage

struct ProgressivePolicyTests {
    private let policy = ProgressivePolicy(minimumInterval: .milliseconds(100))
    private let now = ContinuousClock.now

    @Test func nothingIsDueUnlessSomebodyWaits() {
        #expect(!policy.isDue(isWanted: false, version: 2, shownVersion: 1, lastShown: nil, now: now))
        #expect(policy.isDue(isWanted: true, version: 2, shownVersion: 1, lastShown: nil, now: now))
    }

    @Test func nothingIsDueUnlessThereIsSomethingNew() {
        #expect(!policy.isDue(isWanted: true, version: 1, shownVersion: 1, lastShown: nil, now: now))
    }

    @Test(arguments: [(99, false), (100, true), (500, true)])
    func previewsKeepTheirDistance(_ milliseconds: Int, isDue: Bool) {
        let lastShown = now - .milliseconds(milliseconds)
        #expect(policy.isDue(isWanted: true, version: 2, shownVersion: 1, lastShown: lastShown, now: now) == isDue)
    }
}
