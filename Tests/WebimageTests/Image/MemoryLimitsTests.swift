import ArgumentParser
import AsyncWebImage
import Testing

@testable import webimage

struct MemoryLimitsTests {
    private func decoding(_ arguments: [String]) throws -> ImageDecoder.Configuration {
        try GetCommand.parse(["-o", "/tmp", "a"] + arguments).loaderConfiguration(concurrency: 16).decoding
    }

    @Test func conversionsShareMemoryAndOneMayExceedItsShare() throws {
        let decoding = try decoding(["--format", "png"])
        #expect(decoding.memoryBudget == 192 << 20)
        #expect(decoding.maximumDecodeBytes == ImageDecoder.Configuration().memoryBudget)
    }

    @Test func defaultMemoryLimitsAreShared() throws {
        let decoding = try decoding([])
        #expect(decoding.memoryBudget == 160 << 20 && decoding.maximumDecodeBytes == nil)
    }

    @Test(arguments: [(8, 192), (4_096, 4_096)]) func memoryLimitIsForOneImage(limit: Int, budget: Int) throws {
        let decoding = try decoding(["--max-pixel-size", "100", "--memory-limit", "\(limit)"])
        #expect(decoding.maximumDecodeBytes == limit << 20)
        #expect(decoding.memoryBudget == budget << 20)
    }
}
