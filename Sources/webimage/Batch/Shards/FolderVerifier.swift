import Hashing
import WebimageConsole

import Glibc

/// Compares the files in a folder of shards with the markers, by which the shards count as complete.
struct FolderVerifier {
    /// The numbers of shards, files, and faults.
    struct Report: Sendable, Equatable, CustomStringConvertible {
        var shards = 0
        var files = 0
        var faults = 0

        var description: String {
            let found = faults == 0 ? "no faults" : faults == 1 ? "1 fault" : "\(faults) faults"
            return "\(shards) complete \(shards == 1 ? "shard" : "shards"), \(files) \(files == 1 ? "file" : "files"), "
                + found
        }
    }

    private static let markerSuffix = "_stats.json"

    /// The path of the folder.
    let path: String

    /// Reads all files, and passes a line for each fault to `tell`.
    ///
    /// Throws ``FileError`` if the folder cannot be read.
    func run(_ tell: (String) throws -> Void) throws -> Report {
        let names = try SampleFolder.names(in: path).sorted()
        var report = Report()
        func fault(_ name: String, _ reason: String) throws {
            report.faults += 1
            try tell("\(name): \(reason)")
        }

        var described: Set<String> = []
        for name in names where name.hasSuffix(Self.markerSuffix) && Self.isOfShard(name) {
            report.shards += 1
            guard
                let files = (try? ImageFile(path: "\(path)/\(name)").bytes(limit: 16 << 20)).flatMap(ShardMarker.files)
            else {
                try fault(name, "it is damaged, or was not written by webimage; remove it to make the shard again")
                continue
            }
            for (file, expected) in files {
                described.insert(file)
                report.files += 1
                if let reason = reason(file, expected) { try fault(file, reason) }
            }
        }
        if report.shards == 0 { try fault(path, "it has no complete shards") }
        for name in names {
            if name.hasPrefix("."), name.hasSuffix("\(Self.markerSuffix).new") {
                try fault(name, "the shard is being replaced; run the list again to complete that")
            } else if Self.isOfShard(name), !name.hasSuffix(".json"), !described.contains(name) {
                try fault(name, "no marker describes it; run the list again to complete or replace it")
            }
        }
        return report
    }

    /// Returns whether a file has the name of one of a shard, which begins with its number.
    private static func isOfShard(_ name: String) -> Bool {
        let digits = name.prefix { $0.isASCII && $0.isNumber }
        return digits.count >= 5 && ["", ".", "_"].contains(name.dropFirst(digits.count).prefix(1))
    }

    /// Returns the difference between a file and its description; `nil` if there is none.
    private func reason(_ name: String, _ expected: ShardMarker.File) -> String? {
        let path = "\(path)/\(name)"
        if let fault = expected.sizeFault(at: path) { return fault }
        guard let sha256 = expected.sha256 else { return nil }
        do {
            let found = expected.fileCount == nil ? try Self.sha256(of: path) : try SampleFolder.sha256(of: path)
            return found == sha256 ? nil : "its SHA-256 is \(found) instead of \(sha256)"
        } catch {
            return "\(error)"
        }
    }

    private static func sha256(of path: String) throws -> String {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw FileError("read", path) }
        defer { close(file) }
        var digest = try MessageDigest(.sha256)
        while true {
            let block = try FileDescriptor.read(256 << 10, from: file, named: path)
            if block.isEmpty { return try digest.finish().hexadecimal }
            digest.update(block)
        }
    }
}
