import Foundation
import ImageCodecs

/// A folder of files with reference pixels, named by the environment variable `WEBIMAGE_CORPUS`.
///
/// `manifest.tsv` has one row per file, and names its columns in the first line.
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

    /// Returns all rows of the manifest; throws if there are none, so that no test passes without examining a file.
    static func files() throws -> [File] { try manifest.get() }

    private static let manifest = Result { try readManifest() }

    private static func readManifest() throws -> [File] {
        try table("manifest.tsv").map(file)
    }

    private static func file(_ row: [String: String]) throws -> File {
        guard let path = row["path"], !path.isEmpty else { throw Failure(description: "a row without a path") }
        return File(
            path: path, isValid: row["class"] == "valid", format: row["format"].flatMap(format),
            width: row["width"].flatMap { Int($0) }, height: row["height"].flatMap { Int($0) },
            frames: row["frames"].flatMap { Int($0) },
            tags: (row["tags"] ?? "").split(separator: ",").map(String.init), rgba8: row["rgba8_sha256"] ?? "")
    }

    private static func format(_ identifier: String) -> ImageFormat? {
        ImageFormat.allBuiltIn.first { $0.identifier == identifier }
    }

    /// A problem with the folder.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// Returns the rows of a tab-separated file, by the names in its first line; throws if it is missing or has no
    /// rows.
    static func table(_ name: String) throws -> [[String: String]] {
        guard let folder else { throw Failure(description: "no corpus") }
        let rows = rows(of: try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8))
        guard !rows.isEmpty else { throw Failure(description: "\(name) has no rows") }
        return rows
    }

    static func rows(of text: String) -> [[String: String]] {
        let lines = text.split(separator: "\n").map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
        guard let columns = lines.first else { return [] }
        return lines.dropFirst().map { fields in
            Dictionary(zip(columns, fields).map { (String($0), String($1)) }) { first, _ in first }
        }
    }
}

extension CodecError {
    /// A Boolean value that indicates whether the file is the cause, and not a faulty decoder or an encoder.
    var isOfTheFile: Bool {
        switch self {
        case .truncated, .corrupt, .zeroPixels, .overLimit, .unsupportedFeature, .unsupportedFormat,
            .notAnImage:
            true
        case .outOfMemory, .encodingFailed, .decoderFault, .transformationFailed, .cancelled: false
        }
    }
}
