import Glibc

/// The output of rows: tables to standard output, JSON to a file or, instead of the tables, to standard output.
struct RowOutput: Sendable {
    private let jsonPath: String?

    /// Creates the output, and immediately an empty file, so that errors are found before hours of measuring.
    init(jsonPath: String?) throws {
        self.jsonPath = jsonPath
        if let jsonPath, jsonPath != "-" { try File.write([], to: jsonPath) }
    }

    /// Writes the rows of a completed scenario.
    func add(_ rows: [Row], of scenario: any Scenario.Type, repetitions: Int) throws {
        guard !rows.isEmpty else { return }
        let json = try rows.map { try JSON.line(of: $0) + "\n" }.joined()
        if jsonPath == "-" { return StandardStream.write(json, to: STDOUT_FILENO) }
        if let jsonPath { try File.append(Array(json.utf8), to: jsonPath) }
        let title = "\(scenario.name): \(scenario.summary)"
        let method = repetitions == 1 ? "Results of a single repetition." : "Medians of \(repetitions) repetitions."
        let lines = [title, method, ""] + Table(rows, columns: scenario.columns).lines
        StandardStream.write(lines.joined(separator: "\n") + "\n", to: STDOUT_FILENO)
    }
}
