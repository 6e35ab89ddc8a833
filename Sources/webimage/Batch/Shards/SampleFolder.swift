import Hashing
import WebimageConsole

import Glibc

/// A folder of samples, each with a file for every member, that gets its name when it is complete.
///
/// Until then, it has the name of a ``ReplacingFile``; it is removed when it is released. Not `Sendable`: its methods block.
final class SampleFolder {
    private let path: String
    /// The name of the shard, with which the names of all its files begin.
    private let shard: String
    /// The path until the folder is complete; `nil` afterward.
    private var temporaryPath: String?
    /// The number of bytes of all files.
    private(set) var byteCount = 0
    /// The number of files.
    private(set) var fileCount = 0

    /// Creates the folder of a shard that will be at `path`.
    init(path: String, shard: String) throws(FileError) {
        self.path = path
        self.shard = shard
        let temporaryPath = ReplacingFile.temporaryPath(of: path)
        guard unsafe mkdir(temporaryPath, 0o777) == 0 else { throw FileError("create", path) }
        self.temporaryPath = temporaryPath
    }

    deinit {
        if let temporaryPath { Self.remove(temporaryPath, shard: shard) }
    }

    /// Writes the files of a sample.
    func append(_ sample: BatchSample) throws(FileError) {
        guard let temporaryPath else { return }
        for member in sample.members {
            let name = "\(sample.key).\(member.suffix)"
            let label = "\(path)/\(name)"
            try Self.create("\(temporaryPath)/\(name)", named: label) { file throws(FileError) in
                try FileDescriptor.write(member.bytes, to: file, named: label)
            }
            byteCount += member.bytes.count
            fileCount += 1
        }
    }

    /// Adds the files of a complete folder, without copying their bytes if the file system can do that.
    ///
    /// Throws ``DamagedShard`` unless they are the ones that `expected`, an entry of the marker, describes.
    func add(filesOf folder: String, expected: ShardMarker.File?) throws {
        guard let temporaryPath else { return }
        let names: [String]
        do throws(FileError) { names = try Self.names(in: folder) } catch { throw DamagedShard(error) }
        for name in names {
            var status = stat()
            guard unsafe lstat("\(folder)/\(name)", &status) == 0 else { throw FileError("read", "\(folder)/\(name)") }
            guard status.st_mode & S_IFMT == S_IFREG else { throw DamagedShard(differingPath: folder) }
            if unsafe link("\(folder)/\(name)", "\(temporaryPath)/\(name)") != 0 {
                try Self.copy("\(folder)/\(name)", to: "\(temporaryPath)/\(name)")
            }
            byteCount += Int(status.st_size)
            fileCount += 1
        }
        guard let expected, expected.bytes == byteCount, expected.fileCount == fileCount,
            try expected.sha256 == Self.sha256(of: temporaryPath)
        else { throw DamagedShard(differingPath: folder) }
    }

    private static func copy(_ path: String, to copy: String) throws(FileError) {
        let source = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard source >= 0 else { throw FileError("read", path) }
        defer { close(source) }
        try create(copy, named: copy) { file throws(FileError) in
            while true {
                let block = try FileDescriptor.read(256 << 10, from: source, named: path)
                if block.isEmpty { return }
                try FileDescriptor.write(block, to: file, named: copy)
            }
        }
    }

    /// Creates a file, and closes it after `write` has written to its descriptor.
    private static func create(
        _ path: String, named name: String, _ write: (Int32) throws(FileError) -> Void
    ) throws(FileError) {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
        guard file >= 0 else { throw FileError("create", name) }
        do throws(FileError) {
            try write(file)
        } catch {
            close(file)
            throw error
        }
        try FileDescriptor.close(file, named: name)
    }

    /// Returns the digest of a folder: the SHA-256 of what `sha256sum *` prints in it in the C locale, which is a line
    /// for each file.
    static func sha256(of folder: String) throws -> String {
        var lines = try MessageDigest(.sha256)
        var contents = try MessageDigest(.sha256)
        for name in try names(in: folder).sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            let path = "\(folder)/\(name)"
            let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
            guard file >= 0 else { throw FileError("read", path) }
            defer { close(file) }
            while true {
                let block = try FileDescriptor.read(64 << 10, from: file, named: path)
                if block.isEmpty { break }
                contents.update(block)
            }
            lines.update(Array("\(try contents.finish().hexadecimal)  \(name)\n".utf8))
        }
        return try lines.finish().hexadecimal
    }

    /// Writes all files to the disk, and gives the folder the name `path`, in place of an earlier one of that name.
    ///
    /// Returns its digest. Throws an error if there are files in that folder that are not samples of the shard.
    func place(at path: String) throws -> String {
        guard let temporaryPath else { return "" }
        // Together at the end, because the file system then writes most of them at once.
        for name in try Self.names(in: temporaryPath) {
            try Self.sync("\(temporaryPath)/\(name)", named: "\(path)/\(name)")
        }
        try Self.sync(temporaryPath, named: path)
        let digest = try Self.sha256(of: temporaryPath)
        try Self.requireNoOtherFiles(in: path, shard: shard)
        Self.remove(path, shard: shard)
        guard unsafe rename(temporaryPath, path) == 0 else { throw FileError("create", path) }
        self.temporaryPath = nil
        return digest
    }

    /// Throws an error if there are files in the folder at `path` that are not samples of the shard.
    static func requireNoOtherFiles(in path: String, shard: String) throws(FileError) {
        if let other = (try? names(in: path))?.first(where: { !$0.hasPrefix(shard) }) {
            throw FileError(description: "cannot replace the folder \(path): it contains another file, \(other)")
        }
    }

    private static func sync(_ path: String, named name: String) throws(FileError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw FileError("write to", name) }
        defer { close(descriptor) }
        // Some file systems cannot do this for folders, and do not need it.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw FileError("write to", name) }
    }

    /// Removes the samples of a shard in the folder at `path`, and the folder, as far as that is possible.
    ///
    /// A link to a folder, and whatever else is in the folder, remain.
    static func remove(_ path: String, shard: String) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        for name in (try? names(in: descriptor, named: path)) ?? [] where name.hasPrefix(shard) {
            unsafe unlinkat(descriptor, name, 0)
        }
        unsafe rmdir(path)
    }

    /// Returns the names of all files in the folder at `path`.
    static func names(in path: String) throws(FileError) -> [String] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard descriptor >= 0 else { throw FileError("read the folder", path) }
        defer { close(descriptor) }
        return try names(in: descriptor, named: path)
    }

    /// Returns the names of all files in an open folder.
    private static func names(in folder: Int32, named path: String) throws(FileError) -> [String] {
        // A copy of the descriptor would share the position with it.
        let copy = unsafe openat(folder, ".", O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard copy >= 0 else { throw FileError("read the folder", path) }
        guard let stream = unsafe fdopendir(copy) else {
            close(copy)
            throw FileError("read the folder", path)
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
