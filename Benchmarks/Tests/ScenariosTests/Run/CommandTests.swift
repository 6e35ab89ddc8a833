import ArgumentParser
import Testing

@testable import Scenarios

@Suite struct CommandTests {
    @Test func commandWithoutSubcommandRunsScenarios() throws {
        let command = try #require(try Scenarios.parseAsRoot(["--quick", "--engine", "actor"]) as? RunCommand)
        #expect(command.quick)
        #expect(command.engine == ["actor"])
    }

    @Test func originCommandServesTheFolderOfItsArgument() throws {
        let command = try #require(try Scenarios.parseAsRoot(["origin", "/files"]) as? OriginCommand)
        #expect(command.folder == "/files")
    }

    @Test(arguments: [
        (["--scenario", "rain"], "There is no scenario 'rain'. There are: throughput, hosts"),
        (["--engine", "steam"], "There is no engine 'steam'. There are: actor, operation-queue"),
        (["--scenario", "storm", "--engine", "djpeg"], "There is no engine 'djpeg' in storm. There are: actor"),
        (["--repetitions", "0"], "--repetitions must be 1 to 1000."),
    ])
    func unknownNameIsReportedWithAvailableNames(arguments: [String], message: String) {
        #expect {
            _ = try Scenarios.parseAsRoot(arguments)
        } throws: {
            Scenarios.message(for: $0).contains(message)
        }
    }
}
