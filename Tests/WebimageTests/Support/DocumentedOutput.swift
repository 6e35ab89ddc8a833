import Foundation
import Testing

/// An output of the command, whose schema is in Docs/Schemas.
struct DocumentedOutput {
    /// The path of the folder Docs.
    static let documents = #filePath.components(separatedBy: "/Tests/")[0] + "/Docs"

    let schema: JSONSchema
    /// The paths of the members that were not always `null`.
    private var occurring: Set<String> = []

    init(_ name: String) throws {
        schema = try JSONSchema(try Self.text(ofSchema: name))
    }

    static func text(ofSchema name: String) throws -> JSONValue {
        try JSONValue(text: try String(contentsOfFile: "\(documents)/Schemas/\(name).json", encoding: .utf8))
    }

    /// Validates every line of `text`, which has at least one.
    mutating func validate(_ text: String) throws {
        let lines = text.split(separator: "\n")
        try #require(!lines.isEmpty)
        for line in lines { occurring.formUnion(try schema.validate(try JSONValue(text: String(line)))) }
    }

    /// Validates every line of a file.
    mutating func validate(file path: String) throws {
        try validate(try String(contentsOfFile: path, encoding: .utf8))
    }

    /// The members of the schema that were always `null`, and other members than those of the schema and `columns`.
    func differences(besides columns: Set<String> = []) -> Set<String> {
        schema.paths.union(columns).symmetricDifference(occurring)
    }
}
