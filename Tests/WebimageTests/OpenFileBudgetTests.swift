import Testing

@testable import webimage

struct OpenFileBudgetTests {
    @Test(arguments: [
        (4_000, 16, 16), (4_000, 1_024, 1_024), (1_021, 1_024, 443), (250, 16, 16), (60, 16, 16), (40, 16, 13),
    ])
    func concurrentImagesAreReducedToDescriptorLimit(free: Int, wanted: Int, expected: Int) throws {
        let budget = try #require(OpenFileBudget(free: free, images: wanted))
        #expect(budget.images == expected)
        #expect(budget.connections >= budget.images)
    }

    @Test func cacheReducesTheNumberOfConcurrentImages() throws {
        let budget = try #require(OpenFileBudget(free: 1_021, images: 1_024, cacheFiles: 2))
        #expect(budget.images == 221)
    }

    @Test func openFileBudgetNeverExceedsTheDescriptors() {
        for free in 14...4_096 {
            for (wanted, cacheFiles) in [(1, 0), (16, 0), (1_024, 0), (1, 2), (16, 2), (1_024, 2)] {
                guard let budget = OpenFileBudget(free: free, images: wanted, cacheFiles: cacheFiles) else { continue }
                // The remainder is for descriptors opened at the start, and for lookups.
                let isWithinLimit =
                    budget.images >= 1 && budget.connections >= budget.images
                    && budget.connections + budget.images * (1 + cacheFiles) <= free - 12
                #expect(isWithinLimit, "\(free) descriptors, \(wanted) images: \(budget)")
            }
        }
    }

    @Test func tooFewDescriptorsForOneImageGiveNoBudget() {
        #expect(OpenFileBudget(free: 13, images: 1) == nil)
        #expect(OpenFileBudget(free: 14, images: 1)?.images == 1)
        #expect(OpenFileBudget(free: 15, images: 1, cacheFiles: 2) == nil)
        #expect(OpenFileBudget(free: 0, images: 1) == nil)
    }
}
