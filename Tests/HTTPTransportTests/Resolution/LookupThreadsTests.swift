import Testing

@testable import HTTPTransport

struct LookupThreadsTests {
    @Test(arguments: [
        (0, 1, 1), (8, 1, 1), (31, 1, 1), (64, 2, 4), (256, 8, 16), (1_024, 8, 64), (1_048_576, 8, 64),
    ])
    func lowDescriptorLimitReducesLookupThreads(limit: Int, usual: Int, most: Int) {
        let threads = LookupThreads(openFileLimit: limit)
        #expect(threads.initial == usual)
        #expect(threads.maximum == most)
    }

    @Test(arguments: [(0, 1_024, 1, 1), (2, 1_024, 1, 2), (200, 1_024, 8, 64), (200, 65_536, 8, 200)])
    func requestedMaximumIsWithinTheDescriptorLimit(maximum: Int, limit: Int, usual: Int, most: Int) {
        let threads = LookupThreads(openFileLimit: limit, maximum: maximum)
        #expect(threads.initial == usual)
        #expect(threads.maximum == most)
    }
}
