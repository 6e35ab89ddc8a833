@testable import Scenarios

/// A scenario that measures nothing.
enum TestScenario: Scenario {
    /// A Boolean value that indicates whether the tool that the site requires is installed.
    @TaskLocal static var isInstalled = true

    static let name = "test"
    static let summary = "nothing at all"
    static let columns = [Column("req/s", .requestsPerSecond), Column("of limit", .ratioToLimit, decimals: 2)]

    struct Case: ScenarioCase {
        let engine: String
        var bodyBytes = 10_240

        var heading: String { "\(bodyBytes) bytes" }
    }

    static func cases(_ extent: Extent) -> [Case] { [Case(engine: "limit"), Case(engine: "other")] }

    static func withSite<Result: Sendable>(
        for cases: [Case], fixtures: FixtureFolder, _ body: (String) async throws -> Result
    ) async throws -> Result {
        guard isInstalled else { throw NotInstalled(description: "nginx is not installed") }
        return try await body("nowhere")
    }

    static func measure(_ subject: Case, at site: String) async throws -> Measurements { Measurements() }

    static func compare(_ subject: Case, in repetition: Repetition<Case>) -> Measurements {
        var ratios = Measurements()
        let limit = repetition.first { $0.engine == "limit" }
        ratios[.ratioToLimit] = repetition[subject].ratio(of: .requestsPerSecond, to: limit)
        return ratios
    }

    /// Returns a row of `engine` with these values as medians.
    static func row(
        _ engine: String, bodyBytes: Int = 10_240, _ values: [Metric: Double] = [:], repetitions: Int = 5,
        failure: String? = nil
    ) -> Row {
        Row(
            scenario: name, subject: Case(engine: engine, bodyBytes: bodyBytes),
            summaries: values.compactMapValues { Summary([$0]) }, repetitions: repetitions, failure: failure)
    }
}
