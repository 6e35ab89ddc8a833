import Foundation

/// The result of a test.
enum ConformanceResult: String, Sendable {
    case pass
    case fail
    /// A test that it depends on has not passed, so that the result means nothing.
    case dependencyFailed = "dependency failed"
    /// The test could not be made, because a request that prepares it failed.
    case setupFailed = "setup failed"
}

/// The results of tests, with a line for each of them: its kind, its identifier, and its result.
struct ConformanceResults {
    struct Entry {
        let kind: ConformanceTest.Kind
        let id: String
        let result: ConformanceResult
        /// The expectation that was not met.
        let message: String?

        var line: String { "\(kind) \(id) \(result.rawValue)" }
    }

    let entries: [Entry]

    /// Creates the results of tests that were made on their own.
    init(_ tests: [ConformanceTest], _ outcomes: [String: (result: ConformanceResult, message: String?)]) {
        entries = tests.compactMap { test in
            guard let (result, message) = outcomes[test.id] else { return nil }
            let isBased = test.dependencies.allSatisfy { outcomes[$0].map { $0.result == .pass } ?? true }
            return Entry(
                kind: test.purpose, id: test.id, result: isBased ? result : .dependencyFailed, message: message)
        }
    }

    /// The number of each result, by kind.
    var totals: String {
        ConformanceTest.Kind.allCases.map { kind in
            let own = entries.filter { $0.kind == kind }
            let counts = [ConformanceResult.pass, .fail, .dependencyFailed, .setupFailed].map { result in
                "\(own.count { $0.result == result }) \(result.rawValue)"
            }
            return "\(kind): \(own.count), of which \(counts.joined(separator: ", "))"
        }.joined(separator: "\n")
    }

    /// Returns the differences from the expected lines, with the reasons.
    func differences(from expected: Set<Substring>) -> [String] {
        let unexpected = entries.filter { !expected.contains($0.line[...]) }
        let lines = Set(entries.map { $0.line[...] })
        return expected.subtracting(lines).sorted().map { "- \($0)" }
            + unexpected.map { "+ \($0.line)" + ($0.message.map { " (\($0))" } ?? "") }
    }

    /// Returns the committed lines.
    static func expected() throws -> Set<Substring> {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Results.txt")
        return Set(try String(contentsOf: file, encoding: .utf8).split(separator: "\n"))
    }
}
