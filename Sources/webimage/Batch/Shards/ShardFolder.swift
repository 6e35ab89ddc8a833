import Hashing
import WebimageConsole

import Glibc

/// The folder of a data set: shards, and the description of the runs that make them.
struct ShardFolder: Sendable {
    /// The form of the shards.
    enum Form: String, Sendable, CaseIterable {
        /// A tar archive per shard.
        case webdataset
        /// A folder per shard, with a file for every member of a sample.
        case files
        /// No images, only their records.
        case none
    }

    let path: String
    let keys: SampleKeys
    let form: Form
    /// A Boolean value that indicates whether the records of a shard are written to a file beside it.
    let hasSidecar: Bool
    /// A Boolean value that indicates whether samples and records are in the order of the list.
    let isSorted: Bool

    /// Creates the folder if necessary.
    init(path: String, keys: SampleKeys, form: Form, hasSidecar: Bool, isSorted: Bool) throws(FileError) {
        self.path = try OutputFolder(path: path).path
        self.keys = keys
        self.form = form
        self.hasSidecar = hasSidecar
        self.isSorted = isSorted
    }

    /// Returns the last component of a path.
    static func name(of path: String) -> String { path.split(separator: "/").last.map { String($0) } ?? path }

    /// The path of the archive or folder with the images.
    func imagesPath(_ shard: Int) -> String {
        "\(path)/\(keys.name(ofShard: shard))\(form == .webdataset ? ".tar" : "")"
    }

    func sidecarPath(_ shard: Int) -> String { "\(path)/\(keys.name(ofShard: shard)).jsonl" }
    func markerPath(_ shard: Int) -> String { "\(path)/\(keys.name(ofShard: shard))_stats.json" }
    /// The path of the description of the run.
    var runPath: String { "\(path)/run.json" }
    /// The path of a file of lines of a shard that is being made.
    func linesPath(_ shard: Int, _ kind: String) -> String { "\(path)/\(keys.name(ofShard: shard)).\(kind)" }
    func lockPath(_ shard: Int) -> String { "\(path)/.\(keys.name(ofShard: shard)).lock" }

    /// Describes the run in `run.json`, or compares it with the earlier run that made the folder.
    ///
    /// Throws ``ConflictingRun`` if that had other options.
    func describe(_ run: JSONObject) throws {
        let path = runPath
        let bytes = run.bytes + [UInt8(ascii: "\n")]
        if unsafe access(path, F_OK) != 0 {
            let file = try ReplacingFile(path: path)
            try file.append(bytes)
            try file.sync()
            if try file.placeIfFree() { return }
        }
        let known = try ImageFile(path: path).bytes(limit: 1 << 20)
        guard known == bytes else {
            guard JSONMembers(known) != nil else {
                throw ConflictingRun(
                    description: "\(path) is damaged, or was not written by webimage: choose another folder")
            }
            let difference = Self.difference(of: known, from: bytes).map { " (\($0))" } ?? ""
            throw ConflictingRun(
                description:
                    "\(self.path) was made with other options\(difference): see \(path), or choose another folder")
        }
    }

    /// Returns the first member in which the description of an earlier run differs from that of this one.
    private static func difference(of known: [UInt8], from own: [UInt8]) -> String? {
        guard let earlier = JSONMembers(known), let current = JSONMembers(own) else { return nil }
        for name in current.names + earlier.names where earlier[name] != current[name] {
            return earlier[name].map { "\(name) was \(String(decoding: $0, as: UTF8.self))" } ?? "\(name) was not set"
        }
        return nil
    }

    /// Returns the marker of a complete shard; `nil` if there is none.
    func marker(_ shard: Int) throws -> ShardMarker? {
        guard hasMarker(shard) else { return nil }
        guard let marker = ShardMarker(try ImageFile(path: markerPath(shard)).bytes(limit: 16 << 20)) else {
            throw ConflictingRun(
                description:
                    "\(markerPath(shard)) is damaged, or was not written by webimage: remove it to make the shard "
                    + "again, or choose another folder")
        }
        return marker
    }

    /// Returns whether a shard has a marker.
    func hasMarker(_ shard: Int) -> Bool { unsafe access(markerPath(shard), F_OK) == 0 }

    /// Returns the first file of a complete shard that its marker does not describe, or that is missing or has another
    /// size, with the difference.
    ///
    /// Files that a command got may have been moved.
    func sizeFault(_ marker: ShardMarker, of shard: Int) -> String? {
        guard !marker.hasCommand else { return nil }
        let paths = (form == .none ? [] : [imagesPath(shard)]) + (hasSidecar ? [sidecarPath(shard)] : [])
        for path in paths {
            guard let file = marker.file(named: Self.name(of: path)) else {
                return "\(path): the marker does not describe it"
            }
            if let fault = file.sizeFault(at: path) { return "\(path): \(fault)" }
        }
        return nil
    }

    /// Writes the marker of a shard to the disk, and then gives it its name, `path`.
    func writeMarker(_ marker: JSONObject, at path: String) throws(FileError) {
        let file = try ReplacingFile(path: path)
        try file.append(marker.bytes + [UInt8(ascii: "\n")])
        try file.sync()
        try file.place()
        try sync()
    }

    /// Removes the marker of a shard, then its files, as far as that is possible.
    func removeFiles(_ shard: Int) {
        for path in [markerPath(shard), sidecarPath(shard)] { unsafe unlink(path) }
        switch form {
        case .webdataset: unsafe unlink(imagesPath(shard))
        case .files: SampleFolder.remove(imagesPath(shard), shard: keys.name(ofShard: shard))
        case .none: break
        }
    }

    /// Creates the images of a shard, to which samples are added; if it is `committed`, with its samples.
    func makeImages(_ shard: Int, _ committed: CommittedShard?) throws -> ShardImages {
        let path = imagesPath(shard)
        switch form {
        case .webdataset:
            let standing = try committed.map { try StandingSamples($0, shard, in: self) }
            return .archive(try OrderedFile(path: path, isSorted: isSorted, standing: standing))
        case .files:
            let folder = try SampleFolder(path: path, shard: keys.name(ofShard: shard))
            if let marker = committed?.marker {
                try folder.add(filesOf: path, expected: marker.file(named: ShardFolder.name(of: path)))
            }
            return .files(folder)
        case .none: return .none
        }
    }

    /// Creates the records of a shard, to which records are added; if it is `committed`, with those that stand.
    func makeSidecar(_ shard: Int, _ committed: CommittedShard?) throws -> OrderedFile? {
        guard hasSidecar else { return nil }
        let standing = try committed.map { try StandingRecords($0, shard, in: self) }
        return try OrderedFile(path: sidecarPath(shard), isSorted: isSorted, standing: standing)
    }

    /// Writes the folder's entries to the disk.
    func sync() throws(FileError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError("write to the folder", path) }
        defer { close(descriptor) }
        // Some file systems cannot do this, and do not need it.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw FileError("write to the folder", path) }
    }

    /// Removes the files that a process has left which was killed right after it had completed a shard.
    func removeLeftovers(ofComplete shard: Int) throws(FileError) {
        guard unsafe access(lockPath(shard), F_OK) == 0, let lock = try ShardLock(path: lockPath(shard)) else { return }
        removeLeftovers(shard)
        _ = consume lock
    }

    /// Removes the files of a shard that an earlier process has left incomplete; its lock must be held.
    func removeLeftovers(_ shard: Int) {
        let name = keys.name(ofShard: shard)
        if !isBeingReplaced(shard) { removeReplacement(shard) }
        for entry in (try? SampleFolder.names(in: path)) ?? []
        where entry.hasSuffix(".part")
            && [".\(name)", "..\(name)"].contains(where: { start in
                entry.hasPrefix("\(start).") || entry.hasPrefix("\(start)_stats.json.")
            })
        {
            if unsafe unlink("\(path)/\(entry)") != 0 { SampleFolder.remove("\(path)/\(entry)", shard: name) }
        }
    }

    /// Returns the names of all files in the folder.
    func fileNames() throws(FileError) -> [String] { try SampleFolder.names(in: path) }
}

/// The error when a folder belongs to another run or list.
struct ConflictingRun: Error, CustomStringConvertible {
    let description: String
}
