import FoundationEssentials

/// Runs the cases of scenarios, each in its own process, and combines their results into rows.
struct Driver {
    let extent: Extent
    var choices = Choices()
    let repetitions: Int
    /// The names of the engines to run, or an empty set for all engines.
    let engines: Set<String>
    let fixtures: FixtureFolder
    let progress: Progress

    /// Measures the cases of `scenario` and returns their rows in the same order.
    ///
    /// The rows of a scenario whose site requires a tool that is not installed have no figures.
    func rows<S: Scenario>(of scenario: S.Type) async throws -> [Row] {
        let cases = S.cases(extent, choices).filter { engines.isEmpty || engines.contains($0.implementation) }
        guard !cases.isEmpty else { return [] }
        progress.show("\(S.name): preparing")
        do {
            return try await measuredRows(of: cases, scenario)
        } catch let error as NotInstalled {
            return cases.map { Self.row(of: $0, scenario, rounds: [], failure: error.description) }
        }
    }

    private func measuredRows<S: Scenario>(of cases: [S.Case], _ scenario: S.Type) async throws -> [Row] {
        try await S.withSite(for: cases, fixtures: fixtures) { site in
            var rounds: [Repetition<S.Case>] = []
            var failures: [S.Case: String] = [:]
            for repetition in 1...repetitions {
                var round = Repetition<S.Case>()
                for (index, subject) in cases.enumerated() {
                    progress.show(
                        "\(S.name): repetition \(repetition) of \(repetitions), case \(index + 1) of \(cases.count): "
                            + "\(subject.heading), \(subject.engine)")
                    do {
                        round[subject] = try await measure(subject, of: scenario, at: site)
                    } catch let failure as ChildProcess.Failure {
                        failures[subject] = failure.description
                    }
                }
                rounds.append(round)
            }
            return cases.map { Self.row(of: $0, scenario, rounds: rounds, failure: failures[$0]) }
        }
    }

    private func measure<S: Scenario>(
        _ subject: S.Case, of scenario: S.Type, at site: S.Site
    ) async throws -> Measurements {
        let order = CaseOrder(subject: subject, site: site)
        let output = try await ChildProcess.output(
            of: try ChildProcess.ownPath(), ["case", S.name, try JSON.text(of: order)], deadline: S.deadline)
        return try JSON.value(Measurements.self, from: output)
    }

    /// Returns the row that summarizes measured and derived quantities over the rounds in which the case did not fail.
    static func row<S: Scenario>(
        of subject: S.Case, _ scenario: S.Type, rounds: [Repetition<S.Case>], failure: String?
    ) -> Row {
        let measured = rounds.compactMap { round in
            round[subject]?.merging(S.compare(subject, in: round))
        }
        let metrics = Set(measured.flatMap(\.values.keys))
        let summaries = metrics.compactMap { metric in
            Summary(measured.compactMap { $0[metric] }).map { (metric, $0) }
        }
        return Row(
            scenario: S.name, subject: subject, summaries: Dictionary(uniqueKeysWithValues: summaries),
            repetitions: measured.count, failure: failure)
    }
}

/// The instructions for a child process.
struct CaseOrder<Case: ScenarioCase, Site: Codable & Sendable>: Codable, Sendable {
    let subject: Case
    let site: Site
}
