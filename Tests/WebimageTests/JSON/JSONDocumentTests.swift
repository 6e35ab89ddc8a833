import AsyncWebImage
import ImageCodecs
import Foundation
import Testing

/// Docs/JSON.md describes the members of the schemas, and all codes and warnings.
struct JSONDocumentTests {
    private func document() throws -> String {
        try String(contentsOfFile: DocumentedOutput.documents + "/JSON.md", encoding: .utf8)
    }

    private func schemas() throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: DocumentedOutput.documents + "/Schemas")
        try #require(!names.isEmpty)
        return names.map { $0.replacing(".json", with: "") }
    }

    /// Returns the words in the first column of the table in a section.
    private func words(of section: String) throws -> [String] {
        let parts = try document().components(separatedBy: "\n## ")
        let text = try #require(parts.first { $0.hasPrefix(section + "\n") })
        return text.matches(of: /\n\| `([^`]+)` \|/).map { String($0.1) }
    }

    @Test func documentNamesEveryMemberOfEverySchema() throws {
        let document = try document()
        let named = Set(document.matches(of: /`([^`\n]+)`/).map { String($0.1) })
        for name in try schemas() {
            let paths = try DocumentedOutput(name).schema.paths
            let members = Set(paths.flatMap { $0.split(separator: ".").map { String($0) } })
            #expect(members.subtracting(named).subtracting(["*"]) == [], "\(name)")
            #expect(document.contains("(Schemas/\(name).json)"))
        }
    }

    @Test func documentedCodesAreThoseOfTheLibraryAndTheCommand() throws {
        let sources = DocumentedOutput.documents + "/../Sources"
        let files = ["AsyncWebImage/Error/ImageError+Code.swift", "webimage/Image/ImageFailure.swift"]
        let codes = try files.flatMap { file in
            try String(contentsOfFile: "\(sources)/\(file)", encoding: .utf8)
                .matches(of: /Self\(rawValue: "([^"]+)"\)/).map { String($0.1) }
        }
        #expect(codes.count > 40)
        let expected = codes.map { $0.hasPrefix("http_") ? "http_NNN" : $0 }
        #expect(try words(of: "Error codes").sorted() == expected.sorted())
    }

    @Test func documentedWarningsAreThoseOfTheLibrary() throws {
        let warnings = ImageWarning.allCases.map(\.rawValue)
        #expect(try words(of: "Warnings") == warnings)
        for name in ["get", "info", "batch-record", "batch-sample"] {
            let schema = try DocumentedOutput.text(ofSchema: name)
            let items = try #require(schema["properties"]?["warnings"]?["items"])
            #expect(items["enum"] == .array(warnings.map { .string($0) }))
        }
    }
}
