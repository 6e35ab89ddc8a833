import ArgumentParser
import Engines
import Testing

@testable import Scenarios

@Suite struct DistanceTests {
    @Test func chosenTimesAndLimitsReplaceAndExtendTheCases() {
        let choices = Choices(roundTrips: [0, 150], limits: [EngineLimits(total: 64, perHost: 6)])
        let cases = Distance.cases(.full, choices)
        #expect(Set(cases.map(\.roundTrip)) == [0, 150])
        let heading = "150 ms, 20 hosts, HTTP/1.1"
        let engines = cases.filter { $0.heading == heading }.map(\.engine)
        #expect(engines.prefix(2) == ["actor", "actor 64/6"])
        #expect(engines.contains("aria2c"))
        #expect(Set(cases.map { $0.heading + $0.engine }).count == cases.count)
        #expect(cases.filter { $0.limits != nil }.allSatisfy { $0.implementation == "actor" })
        #expect(!cases.contains { $0.web == .http2 && $0.engine == "aria2c" })
    }

    @Test(arguments: [("64/6", 64, 6), ("64", 64, 64)])
    func limitsAreParsed(text: String, total: Int, perHost: Int) {
        #expect(EngineLimits(argument: text) == EngineLimits(total: total, perHost: perHost))
    }

    @Test(arguments: ["", "6/", "/6", "0", "64/0", "1/2/3", "a"])
    func invalidLimitsAreRejected(text: String) {
        #expect(EngineLimits(argument: text) == nil)
    }

    @Test func choicesAreOptionsOfTheRun() throws {
        let command = try #require(
            try Scenarios.parseAsRoot(
                ["--scenario", "distance", "--round-trip", "0", "--round-trip", "20", "--limits", "64/6"])
                as? RunCommand)
        #expect(command.roundTrip == [0, 20])
        #expect(command.limits == [EngineLimits(total: 64, perHost: 6)])
        #expect(throws: (any Error).self) { try Scenarios.parseAsRoot(["--round-trip", "10001"]) }
    }
}
