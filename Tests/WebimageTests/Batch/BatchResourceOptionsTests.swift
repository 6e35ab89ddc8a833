import ArgumentParser
import AsyncWebImage
import Testing

@testable import HTTPTransport
@testable import webimage

struct BatchResourceOptionsTests {
    private func command(_ options: String...) throws -> BatchCommand {
        try BatchCommand.parse(["--input", "-", "--output", "-"] + options)
    }

    @Test func concurrentNameLookupsAreLimited() throws {
        let budget = try #require(OpenFileBudget(free: 1_000, OpenFileBudget.Needs(images: 16)))
        let resolver = try command("--dns-concurrency", "1").transport(budget).resolver as? ThreadedResolver
        #expect(resolver?.limits.maximum == 1)
        #expect(try command().resources.dnsConcurrency == LookupThreads.usualMaximum)
    }

    @Test(arguments: ["0", "1025", "many"]) func invalidNumberOfNameLookupsIsAnError(number: String) {
        #expect(throws: (any Error).self) { try command("--dns-concurrency", number) }
    }

    @Test func memoryBelowOneMebibyteIsAnError() throws {
        #expect(throws: (any Error).self) { try command("--memory", "192") }
        #expect(try command("--memory", "1M").memoryLimits.allConversions == 1 << 20)
    }

    @Test(arguments: ["--summary", "--failed-to"]) func resultsAreNotWrittenToStandardOutput(option: String) throws {
        #expect(throws: (any Error).self) { try command(option, "-") }
        #expect(try command(option, "file").output.path == "-")
    }

    @Test func archiveIsNoFolder() throws {
        #expect(throws: (any Error).self) { try BatchCommand.parse(["--input", "-", "--output", "shards.tar"]) }
        #expect(try BatchCommand.parse(["--input", "-", "--output", "shards.tar/"]).output.path == "shards.tar/")
    }
}
