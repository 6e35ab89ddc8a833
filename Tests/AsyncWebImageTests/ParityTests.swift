import Foundation
import Testing

/// The parity table names the test for each of its rows; a name without a test would be a claim without proof.
struct ParityTests {
    @Test func everyTestThatIsNamedExists() throws {
        let package = #filePath.components(separatedBy: "/Tests/")[0]
        let table = try String(contentsOfFile: "\(package)/Docs/SDWebImageParity.md", encoding: .utf8)
        let named = Set(
            table.matches(of: /`([A-Z][A-Za-z]+Tests)\.([a-zA-Z0-9]+)`/).map { ($0.1 + "." + $0.2).description })
        #expect(named.count > 50)
        let missing = try named.subtracting(tests(in: "\(package)/Tests"))
        #expect(missing.isEmpty)
    }

    /// All tests as `Suite.function`; a suite may have several files, `Suite+Part.swift`.
    private func tests(in folder: String) throws -> Set<String> {
        var found: Set<String> = []
        let files = try #require(FileManager.default.enumerator(atPath: folder))
        for case let file as String in files where !file.contains(".build") {
            guard let suite = file.firstMatch(of: /([A-Za-z]+Tests)(\+[A-Za-z]+)?\.swift$/)?.1 else { continue }
            let source = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
            for match in source.matches(of: /@Test[^{}]*?func ([a-zA-Z0-9]+)\(/) { found.insert("\(suite).\(match.1)") }
        }
        return found
    }
}
