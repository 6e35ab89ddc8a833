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
}
