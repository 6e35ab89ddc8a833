import Digests
import Hashing
import WebimageConsole

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The folder of a data set: shards, and the description of the runs that make them.
struct ShardFolder: Sendable {
    /// The form of the shards.
    enum Form: String, Sendable {
        /// A tar archive per shard.
        case webdataset
        /// No images, only their records.
        case none
    }

    let path: String
    let keys: SampleKeys
    let form: Form
    /// A Boolean value that indicates whether the records of a shard are written to a file beside it.
    let hasSidecar: Bool

    /// Creates the folder if necessary.
    init(path: String, keys: SampleKeys, form: Form, hasSidecar: Bool) throws(FileError) {
        self.path = try OutputFolder(path: path).path
        self.keys = keys
        self.form = form
        self.hasSidecar = hasSidecar
    }

    func archivePath(_ shard: Int) -> String { "\(path)/\(keys.name(ofShard: shard)).tar" }
    func sidecarPath(_ shard: Int) -> String { "\(path)/\(keys.name(ofShard: shard)).jsonl" }
    func markerPath(_ shard: Int) -> String { "\(path)/\(keys.name(ofShard: shard))_stats.json" }
    /// The path of the description of the run.
    var runPath: String { "\(path)/run.json" }
    func lockPath(_ shard: Int) -> String { "\(path)/.\(keys.name(ofShard: shard)).lock" }

    /// Describes the run in `run.json`, or compares it with the earlier run that made the folder.
    ///
    /// Throws ``ConflictingRun`` if that had other options.
    func describe(_ run: JSONObject) throws {
        let path = runPath
        let bytes = run.bytes + [UInt8(ascii: "\n")]
        if unsafe access(path, F_OK) != 0 {
            let file = try PartFile(path: path)
            try file.append(bytes)
            try file.sync()
            if try file.placeIfFree() { return }
        }
        let known = try ImageFile(path: path).bytes(limit: 1 << 20)
        guard known == bytes else {
            throw ConflictingRun(
                description: "\(self.path) was made with other options: see \(path), or choose another folder")
        }
    }

    /// Returns the marker of a complete shard; `nil` if there is none.
    func marker(_ shard: Int) throws -> ShardMarker? {
        guard unsafe access(markerPath(shard), F_OK) == 0 else { return nil }
        guard let marker = ShardMarker(try ImageFile(path: markerPath(shard)).bytes(limit: 16 << 20)) else {
            throw ConflictingRun(description: "\(markerPath(shard)) was not written by webimage")
        }
        return marker
    }

    /// Removes the marker of a shard, if there is one, so that it is made again.
    func removeMarker(_ shard: Int) throws(FileError) {
        guard unsafe unlink(markerPath(shard)) != 0 else { return try sync() }
        guard errno == ENOENT else { throw FileError("remove", markerPath(shard)) }
    }

    /// Removes the marker of a shard, then its files, as far as that is possible.
    func removeFiles(_ shard: Int) {
        for path in [markerPath(shard), archivePath(shard), sidecarPath(shard)] { unsafe unlink(path) }
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
        let prefixes = ["tar", "jsonl"].map { ".\(name).\($0)." } + [".\(name)_stats.json."]
        for name in (try? fileNames()) ?? []
        where name.hasSuffix(".part") && prefixes.contains(where: { name.hasPrefix($0) }) {
            unsafe unlink("\(path)/\(name)")
        }
    }

    /// Returns the names of all files in the folder.
    func fileNames() throws(FileError) -> [String] {
        guard let stream = unsafe opendir(path) else { throw FileError("read the folder", path) }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            names.append(
                unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
                })
        }
        return names
    }
}

/// The error when a folder belongs to another run or list.
struct ConflictingRun: Error, CustomStringConvertible {
    let description: String
}
