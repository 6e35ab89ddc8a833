import Testing

@testable import Scenarios

@Suite struct DriverTests {
    private typealias Case = TestScenario.Case

    private func round(_ rates: [String: Double]) -> Repetition<Case> {
        var round = Repetition<Case>()
        for (engine, rate) in rates {
            var measurements = Measurements()
            measurements[.requestsPerSecond] = rate
            round[Case(engine: engine)] = measurements
        }
        return round
    }

    /// The result is the median of the ratios, not the ratio of the medians.
    @Test func ratiosAreTakenWithinARepetition() {
        let rounds = [
            round(["limit": 100, "other": 90]), round(["limit": 1_000, "other": 500]),
            round(["limit": 200, "other": 20]),
        ]
        let row = Driver.row(of: Case(engine: "other"), TestScenario.self, rounds: rounds, failure: nil)
        #expect(row[.ratioToLimit]?.median == 0.5)
        #expect(row[.ratioToLimit]?.least == 0.1)
        #expect(row[.ratioToLimit]?.most == 0.9)
        #expect(row[.requestsPerSecond]?.median == 90)
    }

    @Test func aRepetitionWithoutTheLimitHasNoRatio() {
        let rounds = [round(["limit": 100, "other": 90]), round(["other": 500]), round(["limit": 100])]
        let row = Driver.row(of: Case(engine: "other"), TestScenario.self, rounds: rounds, failure: "signal 5")
        #expect(row.repetitions == 2)
        #expect(row[.requestsPerSecond]?.median == 295)
        #expect(row[.ratioToLimit]?.most == 0.9)
        #expect(row[.ratioToLimit]?.least == 0.9)
        #expect(row.failure == "signal 5")
    }

    @Test func scenarioWithoutItsToolHasRowsWithoutFigures() async throws {
        try await withTemporaryFolder { path in
            let driver = Driver(
                extent: .quick, repetitions: 1, engines: [], fixtures: try FixtureFolder(path: path),
                progress: Progress())
            let rows = try await TestScenario.$isInstalled.withValue(false) {
                try await driver.rows(of: TestScenario.self)
            }
            #expect(rows.map(\.subject.engine) == ["limit", "other"])
            #expect(rows.map(\.failure) == ["nginx is not installed", "nginx is not installed"])
            #expect(rows.map(\.repetitions) == [0, 0])
        }
    }

    @Test func engineThatAlwaysFailsHasRowWithoutMeasurements() {
        let row = Driver.row(
            of: Case(engine: "other"), TestScenario.self, rounds: [round(["limit": 1])], failure: "signal 5")
        #expect(row.repetitions == 0)
        #expect(row.summaries.isEmpty)
    }
}
