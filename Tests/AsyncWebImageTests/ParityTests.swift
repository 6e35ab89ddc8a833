import Foundation
import Testing

/// The parity table names the test for each of its rows; a name without a test would be a claim without proof.
struct ParityTests {
    private let package = #filePath.components(separatedBy: "/Tests/")[0]

    @Test func everyTestNamedInTheParityTableExists() throws {
        let named = Set(try rows().flatMap(tests(namedIn:)))
        #expect(named.count > 50)
        let missing = try named.subtracting(tests(in: "\(package)/Tests"))
        #expect(missing.isEmpty)
    }

    @Test func everyRowOfTheParityTableNamesATest() throws {
        let unproven = try rows().filter { tests(namedIn: $0).isEmpty }
        #expect(unproven.isEmpty)
    }

    /// The rows of all tables that have a column for tests.
    private func rows() throws -> [Substring] {
        let document = try String(contentsOfFile: "\(package)/Docs/SDWebImageParity.md", encoding: .utf8)
        var namesTests = false
        return document.split(separator: "\n").filter { line in
            if line.hasPrefix("| SDWebImage") { namesTests = line.hasSuffix("| shown by |") }
            return namesTests && line.hasPrefix("| ") && !line.hasPrefix("| SDWebImage")
        }
    }

    private func tests(namedIn row: Substring) -> [String] {
        row.matches(of: /`([A-Z][A-Za-z]+Tests)\.([a-zA-Z0-9]+)`/).map { "\($0.1).\($0.2)" }
    }

    @Test func parityTableMayNameOnlyEnabledTests() {
        let source = """
            @Test(arguments: [1, 2]) func runs(_ number: Int) {}
            @Test(.disabled("flaky")) func isDisabled() {}
            // @Test func isCommentedOut() {}
            @Test
            func runsToo() {}
            func isNone() {}
            """
        #expect(tests(inSource: source) == ["runs", "runsToo"])
        #expect(tests(inSource: "@Suite(.disabled()) struct Tests {\n    @Test func runs() {}\n}").isEmpty)
    }

    /// All tests as `Suite.function`; a suite may have several files, `Suite+Part.swift`.
    private func tests(in folder: String) throws -> Set<String> {
        var found: Set<String> = []
        let files = try #require(FileManager.default.enumerator(atPath: folder))
        for case let file as String in files where !file.contains(".build") {
            guard let suite = file.firstMatch(of: /([A-Za-z]+Tests)(\+[A-Za-z]+)?\.swift$/)?.1 else { continue }
            let source = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
            for test in tests(inSource: source) { found.insert("\(suite).\(test)") }
        }
        return found
    }

    /// The names of the tests in a file, without those that are commented out or disabled.
    private func tests(inSource source: String) -> [String] {
        let code = source.split(separator: "\n").filter { !$0.drop(while: \.isWhitespace).hasPrefix("//") }
            .joined(separator: "\n")
        guard code.firstMatch(of: /@Suite\([^{}]*\.disabled/) == nil else { return [] }
        return code.matches(of: /@Test([^{}]*?)func ([a-zA-Z0-9]+)\(/).filter { !$0.1.contains(".disabled") }
            .map { String($0.2) }
    }
}
