import Testing

@testable import webimage

struct OpenFileBudgetTests {
    typealias Needs = OpenFileBudget.Needs

    /// The files that the commands can need: an image, a list, a cache, and shards.
    private static let kinds = [
        Needs(images: 0), Needs(images: 0, filesPerImage: 3, files: 2),
        Needs(images: 0, files: 4, filesOfCompleteBodies: 72, shards: 16, filesPerShard: 5),
        Needs(images: 0, filesPerImage: 3, files: 6, filesOfCompleteBodies: 72, shards: 2, filesPerShard: 9),
    ]

    @Test(arguments: [
        (4_000, 16, 16), (4_000, 1_024, 1_024), (1_021, 1_024, 441), (250, 16, 16), (60, 16, 16), (40, 16, 11),
    ])
    func concurrentImagesAreReducedToDescriptorLimit(free: Int, wanted: Int, expected: Int) throws {
        let budget = try #require(OpenFileBudget(free: free, Needs(images: wanted)))
        #expect(budget.images == expected)
        #expect(budget.connections >= budget.images)
    }

    @Test func cacheReducesTheNumberOfConcurrentImages() throws {
        let budget = try #require(OpenFileBudget(free: 1_021, Needs(images: 1_024, filesPerImage: 3, files: 2)))
        #expect(budget.images == 220)
    }

    @Test func openFileBudgetNeverExceedsTheDescriptors() {
        for free in 14...4_096 {
            for (kind, images) in Self.kinds.flatMap({ kind in [1, 16, 1_024].map { (kind, $0) } }) {
                var needs = kind
                needs.images = images
                guard let budget = OpenFileBudget(free: free, needs) else { continue }
                // The remainder is for descriptors opened at the start, for lookups, and for files open briefly.
                let isWithinLimit =
                    budget.images >= 1 && budget.connections >= budget.images
                    && (needs.shards == 0 || budget.shards >= 1)
                    && budget.connections + budget.images * needs.filesPerImage + budget.filesOfCompleteBodies
                        + budget.shards * needs.filesPerShard + (budget.observesMemoryPressure ? 2 : 0) + needs.files
                        <= free - 11
                #expect(isWithinLimit, "\(free) descriptors, \(needs): \(budget)")
            }
        }
    }

    @Test func openShardsTakeAtMostHalfOfWhatImagesCouldUse() throws {
        let needs = Needs(images: 64, files: 4, shards: 16, filesPerShard: 5)
        let few = try #require(OpenFileBudget(free: 57, needs))
        #expect(few.shards == 3)
        #expect(few.images >= 6)
        #expect(try #require(OpenFileBudget(free: 1_021, needs)).shards == 16)
        #expect(try #require(OpenFileBudget(free: 24, needs)).shards == 1)
        #expect(OpenFileBudget(free: 21, needs) == nil)
    }

    @Test func memoryPressureIsNotObservedWithFewDescriptors() throws {
        #expect(try #require(OpenFileBudget(free: 39, Needs(images: 1))).observesMemoryPressure == false)
        #expect(try #require(OpenFileBudget(free: 40, Needs(images: 1))).observesMemoryPressure)
    }

    @Test func tooFewDescriptorsForOneImageGiveNoBudget() {
        #expect(OpenFileBudget(free: 13, Needs(images: 1)) == nil)
        #expect(OpenFileBudget(free: 14, Needs(images: 1))?.images == 1)
        #expect(OpenFileBudget(free: 15, Needs(images: 1, filesPerImage: 3)) == nil)
        #expect(OpenFileBudget(free: 0, Needs(images: 1)) == nil)
    }
}
