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
}
