import Foundation
import ImageCodecs

/// A folder of files with reference pixels, named by the environment variable `WEBIMAGE_CORPUS`.
///
/// `manifest.tsv` has a row a file and names its columns in the first line.
enum Corpus {
    static let folder = ProcessInfo.processInfo.environment["WEBIMAGE_CORPUS"].map(URL.init(fileURLWithPath:))
    static var isAvailable: Bool { folder != nil }

    /// A row of the manifest.
    struct File: Sendable {
        var path: String
        var isValid: Bool
        var format: ImageFormat?
        var width: Int?
        var height: Int?
        var frames: Int?
        var tags: [String]
        /// SHA-256 of the reference pixels.
        var rgba8: String

        /// The bytes of the file.
        func bytes() throws -> [UInt8] {
            guard let folder = Corpus.folder else { return [] }
            return [UInt8](try Data(contentsOf: folder.appendingPathComponent(path)))
        }
    }

    /// All rows of the manifest, or none without a corpus.
    static let files: [File] = table("manifest.tsv").compactMap { row in
        guard let path = row["path"] else { return nil }
        return File(
            path: path, isValid: row["class"] == "valid", format: row["format"].flatMap(format),
            width: row["width"].flatMap { Int($0) }, height: row["height"].flatMap { Int($0) },
            frames: row["frames"].flatMap { Int($0) },
            tags: (row["tags"] ?? "").split(separator: ",").map(String.init), rgba8: row["rgba8_sha256"] ?? "")
    }

    private static func format(_ identifier: String) -> ImageFormat? {
        ImageFormat.allBuiltIn.first { $0.identifier == identifier }
    }

    /// The rows of a tab-separated file, by the names in its first line.
    static func table(_ name: String) -> [[String: String]] {
        guard let folder, let text = try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
        else { return [] }
        let lines = text.split(separator: "\n").map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
        guard let columns = lines.first else { return [] }
        return lines.dropFirst().map { fields in
            Dictionary(zip(columns, fields).map { (String($0), String($1)) }) { first, _ in first }
        }
    }
}
