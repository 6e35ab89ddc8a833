/// A set of cases to compare, their measurement, and the presentation of the results.
///
/// The driver prepares the site once, then runs every repetition of every case in its own process. Each repetition
/// measures every case once, so that a temporary disturbance of the machine affects all of them.
protocol Scenario: SendableMetatype {
    associatedtype Case: ScenarioCase
    /// The environment that the driver sets up once and passes to every child, such as an origin and paths of files.
    associatedtype Site: Codable & Sendable

    /// The name on the command line and in the rows.
    static var name: String { get }
    /// The line that describes the scenario in the help and above the table.
    static var summary: String { get }
    /// The columns of the table after the engine.
    static var columns: [Column] { get }
    /// The time after which a child is killed and its case fails.
    static var deadline: Duration { get }

    /// Returns the cases in the order in which they are measured and reported.
    static func cases(_ extent: Extent) -> [Case]

    /// Returns the cases with the parameters chosen on the command line, as far as they apply.
    static func cases(_ extent: Extent, _ choices: Choices) -> [Case]

    /// Runs `body` while the site for `cases` exists.
    static func withSite<Result: Sendable>(
        for cases: [Case], fixtures: FixtureFolder, _ body: (Site) async throws -> Result
    ) async throws -> Result

    /// Warms up and measures a case.
    ///
    /// This function is called once in a new process, whose CPU time and memory are those of the case alone.
    static func measure(_ subject: Case, at site: Site) async throws -> Measurements

    /// Returns quantities derived from several cases of one repetition, such as ratios.
    ///
    /// They are reported like measurements.
    static func compare(_ subject: Case, in repetition: Repetition<Case>) -> Measurements
}

extension Scenario {
    static var deadline: Duration { .seconds(60) }

    static func cases(_ extent: Extent, _ choices: Choices) -> [Case] { cases(extent) }

    static func compare(_ subject: Case, in repetition: Repetition<Case>) -> Measurements { Measurements() }
}

/// A case to measure: an engine and its parameters.
///
/// Its encoding is passed to the child on the command line and becomes part of the row, in snake case.
protocol ScenarioCase: Codable, Hashable, Sendable {
    /// The name of an engine, or of a tool that engines are compared with.
    var engine: String { get }
    /// The name that selects the case on the command line: the engine's name without parameters.
    var implementation: String { get }
    /// The heading shared with the cases to compare, such as "10 KiB, 64 at a time".
    var heading: String { get }
}

extension ScenarioCase {
    var implementation: String { engine }
}

/// The extent of the measurements.
enum Extent: Sendable {
    /// All cases with all requests.
    case full
    /// Fewer cases and fewer requests: all scenarios together take less than ten minutes.
    case quick
}
