import Foundation

/// The text of a file of the package, as lines without their indentation.
struct Document {
    private let lines: [String]

    /// The file at `path`, from the package's folder on unless it begins with a slash.
    init(_ path: String) throws {
        let package = #filePath.components(separatedBy: "/Tests/")[0]
        let text = try String(contentsOfFile: path.hasPrefix("/") ? path : "\(package)/\(path)", encoding: .utf8)
        lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// The blocks of code in `language`.
    func code(_ language: String) -> [[String]] {
        lines.split(separator: "```\(language)").dropFirst().map { Array($0.prefix { $0 != "```" }) }
    }

    /// Returns whether `example` stands in the file, one line after the other.
    func contains(_ example: [String]) -> Bool {
        guard let first = example.first else { return false }
        return lines.indices.contains { index in
            lines[index].hasSuffix(first)
                && lines[index...].dropFirst().prefix(example.count - 1).elementsEqual(example.dropFirst())
        }
    }
}
