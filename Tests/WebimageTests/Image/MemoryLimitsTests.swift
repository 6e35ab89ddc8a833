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
        #expect(decoding.maximumDecodeBytes == min(768 << 20, ImageDecoder.Configuration.defaultMemoryBudget))
    }

    @Test func workOnOneImageIsLimitedByAnOption() throws {
        let limits = try decoding([]).limits
        #expect(limits.maximumWork == DecodeLimits().maximumWork)
        #expect(try decoding(["--max-work", "5000"]).limits.maximumWork == 5_000)
        let batch = try BatchCommand.parse(["--input", "-", "--output", "-", "--max-work", "5000"])
        let budget = try #require(OpenFileBudget(free: 1_000, OpenFileBudget.Needs(images: 1)))
        #expect(try batch.configuration(budget).decoding.limits.maximumWork == 5_000)
        #expect(throws: (any Error).self) { try GetCommand.parse(["a", "--max-work", "0"]) }
    }

    @Test func verificationsShareMemoryAndOneMayExceedItsShare() throws {
        let decoding = try decoding([])
        #expect(decoding.memoryBudget == 160 << 20)
        #expect(decoding.maximumDecodeBytes == min(768 << 20, ImageDecoder.Configuration.defaultMemoryBudget))
        let batch = try BatchCommand.parse(["--input", "-", "--output", "-"])
        let budget = try #require(OpenFileBudget(free: 1_000, OpenFileBudget.Needs(images: 1)))
        #expect(try batch.configuration(budget).decoding.maximumDecodeBytes == decoding.maximumDecodeBytes)
    }

    @Test(arguments: [(8, 192), (4_096, 4_096)]) func memoryLimitIsForOneImage(limit: Int, budget: Int) throws {
        let decoding = try decoding(["--max-pixel-size", "100", "--memory-limit", "\(limit)"])
        #expect(decoding.maximumDecodeBytes == limit << 20)
        #expect(decoding.memoryBudget == budget << 20)
    }
}
