/// A question the benchmarks answer: the cases, the measurement, and the presentation of the results.
///
/// The driver prepares the site once, then runs every repetition of every case in its own process. Cases alternate
/// within a repetition, so that temporary disturbances of the machine affect all of them.
protocol Scenario: SendableMetatype {
    associatedtype Case: ScenarioCase
    /// The environment that the driver sets up once and passes to every child: URLs of the origin, paths of files.
    associatedtype Site: Codable & Sendable

    /// The name on the command line and in the rows.
    static var name: String { get }
    /// One line for the help and over the table.
    static var summary: String { get }
    /// The quantities shown in the table, beside the engine.
    static var columns: [Column] { get }
    /// The time after which a child is killed and its case has failed.
    static var deadline: Duration { get }

    /// The cases in the order in which they are measured and reported.
    static func cases(_ extent: Extent) -> [Case]

    /// Runs `body` while the site for `cases` exists.
    static func withSite<Result: Sendable>(
        for cases: [Case], fixtures: FixtureFolder, _ body: (Site) async throws -> Result
    ) async throws -> Result

    /// Warms up and measures; called once in a fresh process, whose processor time and memory are the case's alone.
    static func measure(_ subject: Case, at site: Site) async throws -> Measurements

    /// Returns quantities derived from several cases of one repetition, such as ratios; reported like measurements.
    static func compare(_ subject: Case, in repetition: Repetition<Case>) -> Measurements
}

extension Scenario {
    static var deadline: Duration { .seconds(60) }

    static func compare(_ subject: Case, in repetition: Repetition<Case>) -> Measurements { Measurements() }
}

/// A case to measure: an engine and its parameters.
///
/// Its encoding is passed to the child on the command line and becomes part of the row, in snake case.
protocol ScenarioCase: Codable, Hashable, Sendable {
    /// An engine, or a tool it is compared with.
    var engine: String { get }
    /// The heading shared with the cases to compare, such as "10 KiB, 64 at a time".
    var heading: String { get }
}

/// The extent of the measurements.
enum Extent: Sendable {
    /// Everything.
    case full
    /// Fewer sizes and fewer requests: all scenarios together take less than five minutes.
    case quick
}
