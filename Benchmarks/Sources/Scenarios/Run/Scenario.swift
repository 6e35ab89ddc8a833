/// A question the benchmarks answer: what is measured, how, and how the answer is told.
///
/// The driver prepares the site once, then runs every repetition of every case in a process of its own. Within a
/// repetition all cases take their turn, so that what disturbs the machine for a while disturbs all of them.
protocol Scenario: SendableMetatype {
    associatedtype Case: ScenarioCase
    /// What the driver sets up once and tells every child: URLs of the origin, paths of files.
    associatedtype Site: Codable & Sendable

    /// As it is written on the command line and in the rows.
    static var name: String { get }
    /// One line for the help and over the table.
    static var summary: String { get }
    /// The quantities shown in the table, beside who did it.
    static var columns: [Column] { get }
    /// A child that takes longer is killed, and its case has failed.
    static var deadline: Duration { get }

    /// The cases in the order in which they are measured and reported.
    static func cases(_ extent: Extent) -> [Case]

    /// Runs `body` while the site for `cases` is there.
    static func withSite<Result: Sendable>(
        for cases: [Case], fixtures: FixtureFolder, _ body: (Site) async throws -> Result
    ) async throws -> Result

    /// Warms up and measures; called once in a fresh process, whose processor time and memory are the case's alone.
    static func measure(_ subject: Case, at site: Site) async throws -> Measurements

    /// What only several cases of one repetition tell, such as ratios; reported like what was measured.
    static func compare(_ subject: Case, in repetition: Repetition<Case>) -> Measurements
}

extension Scenario {
    static var deadline: Duration { .seconds(60) }

    static func compare(_ subject: Case, in repetition: Repetition<Case>) -> Measurements { Measurements() }
}

/// One thing to measure: who does it, and its parameters.
///
/// Its encoding is handed to the child on the command line and becomes part of the row, in snake case.
protocol ScenarioCase: Codable, Hashable, Sendable {
    /// An engine, or a tool it is compared with.
    var engine: String { get }
    /// What it has in common with the cases it is to be compared with, such as "10 KiB, 64 at a time".
    var heading: String { get }
}

/// How much is measured.
enum Extent: Sendable {
    /// Everything.
    case full
    /// Fewer sizes and fewer requests: all scenarios together take less than five minutes.
    case quick
}
