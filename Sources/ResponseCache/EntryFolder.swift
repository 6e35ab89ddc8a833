import Hashing
import Synchronization
import Threading

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The folder of a cache: the paths of its files, and changes to one shard at a time.
///
/// Entries are in 256 shards, folders named after the first two digits of their names, so that every entry is found by
/// its name. The folder of the format's version contains the shards, the files being written, and the ledger of the
/// totals.
final class EntryFolder: Sendable {
    static let shardCount = 256
    /// The time for which a change of a shard waits for another one.
    ///
    /// A process that has been stopped keeps its lock.
    static let maximumLockTime: Duration = .seconds(1)
    private static let versionName = "v5"

    /// The path of the cache.
    let path: String
    /// The path of the files of this version of the format.
    let base: String
    private let traffic: FileIOStatistics?
    /// The beginning of the names of temporary files, which no other object uses.
    private let temporaryPrefix = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    private let temporaryCount = Atomic(0)
    /// The shards that others have locked for longer than ``maximumLockTime``; changes do not wait for them again.
    private let stalledShards = Locked<Set<Int>>([])
    /// The entries of each shard that ``removeUnlocked(_:)`` has removed since this object last changed the shard.
    let removedUnlocked = Locked<[Int: [String]]>([:])
    /// The ledger as it was opened last.
    let ledgerInUse = Locked<Ledger?>(nil)

    /// Opens the folder at `path`, accessible only to its owner.
    ///
    /// If `isCreated` is `false` and the folder contains no cache, throws an error instead of creating it.
    init(path: String, isCreated: Bool = true, traffic: FileIOStatistics? = nil) throws(FileFailure) {
        self.path = path
        base = "\(path)/\(Self.versionName)"
        self.traffic = traffic
        var status = stat()
        if unsafe stat(path, &status) != 0 {
            guard isCreated else { throw .last }
            try Self.make(path)
            guard unsafe stat(path, &status) == 0 else { throw .last }
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw FileFailure(code: ENOTDIR) }
        if !isCreated, unsafe access(base, F_OK) != 0 { throw .last }
    }

    /// Creates a folder and those above it; one that cannot be created might exist.
    private static func make(_ path: String) throws(FileFailure) {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += made.isEmpty || made.hasSuffix("/") ? String(part) : "/" + part
            if unsafe mkdir(made, 0o700) != 0, errno != EEXIST, errno != EISDIR, errno != EROFS { throw .last }
        }
    }

    /// Creates the folders for new files.
    func prepare() throws(FileFailure) {
        for path in [path, base, "\(base)/\(Self.temporaryFolder)"] where unsafe mkdir(path, 0o700) != 0 {
            guard errno == EEXIST else { throw .last }
        }
    }

    // MARK: Names

    /// Returns the path of an entry's file.
    func path(of name: String) -> String { "\(base)/\(name.prefix(2))/\(name)" }

    /// Returns the number of the shard of a name.
    static func shard(of name: String) -> Int { Int(name.prefix(2), radix: 16) ?? 0 }

    private func path(of shard: Int) -> String { "\(base)/\([UInt8(truncatingIfNeeded: shard)].hexadecimal)" }

    // MARK: Files

    /// Opens a file for reading.
    func open(_ name: String) throws(FileFailure) -> OpenFile {
        try OpenFile(reading: path(of: name), traffic: traffic)
    }

    /// Opens a file for reading without waiting for a disk; throws `EAGAIN` if that is impossible.
    func openAtOnce(_ name: String) throws(FileFailure) -> OpenFile {
        try OpenFile(readingAtOnce: path(of: name), traffic: traffic)
    }

    /// Sets the time of the last use of a file, in nanoseconds since 1970.
    func markUsed(_ name: String, at time: Int) { OpenFile.touch(path(of: name), at: time) }

    /// Opens a file for reading and writing.
    func openForUpdate(_ name: String) throws(FileFailure) -> OpenFile {
        try OpenFile(updating: path(of: name), traffic: traffic)
    }

    /// Returns whether a file with this name exists, or might exist.
    func has(_ name: String) -> Bool { unsafe access(path(of: name), F_OK) == 0 || errno != ENOENT }

    /// Returns the file with a name; `nil` if there is none.
    func file(_ name: String) -> File? { File(name: name, path: path(of: name)) }

    /// Returns the names of the files in a shard, unordered.
    func names(in shard: Int) throws(FileFailure) -> [String] { try Self.names(in: path(of: shard)) }

    /// Returns the files in a shard, unordered; files that vanish in the meantime are omitted.
    func files(in shard: Int) -> [File] { ((try? names(in: shard)) ?? []).compactMap { file($0) } }

    /// Returns whether a shard has been created.
    func hasFolder(_ shard: Int) -> Bool { unsafe access(path(of: shard), F_OK) == 0 }

    /// Returns the names of the files in a folder; none if it does not exist.
    private static func names(in path: String) throws(FileFailure) -> [String] {
        guard let folder = unsafe opendir(path) else {
            guard errno == ENOENT else { throw .last }
            return []
        }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    // MARK: Changes

    /// Runs `body` while no other thread or process changes the shard, which is created if necessary.
    ///
    /// Throws `EAGAIN` if another one takes longer than ``maximumLockTime``.
    func withShard<Result>(
        _ shard: Int, _ body: () throws(FileFailure) -> Result
    ) throws(FileFailure) -> Result {
        let path = path(of: shard)
        let folder: OpenFile
        do throws(FileFailure) {
            folder = try OpenFile(folder: path)
        } catch {
            guard error.code == ENOENT else { throw error }
            if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw .last }
            folder = try OpenFile(folder: path)
        }
        let isStalled = stalledShards.withLock { $0.contains(shard) }
        guard folder.lock(upTo: isStalled ? .zero : Self.maximumLockTime) else {
            let failure = FileFailure.last
            if failure.code == EAGAIN { stalledShards.withLock { _ = $0.insert(shard) } }
            throw failure
        }
        if isStalled { stalledShards.withLock { _ = $0.remove(shard) } }
        return try withExtendedLifetime(folder) { () throws(FileFailure) in try body() }
    }

    /// Removes a file from a shard; returns whether there was one.
    ///
    /// The shard must be locked, except by ``removeUnlocked(_:)``.
    @discardableResult
    func unlink(_ name: String) throws(FileFailure) -> Bool {
        guard Self.systemUnlink(path(of: name)) != 0 else { return true }
        guard errno == ENOENT else { throw .last }
        return false
    }

    /// Makes a temporary file an entry, or replaces one, in a shard, which must be locked.
    func rename(_ temporary: TemporaryFile, to name: String) throws(FileFailure) {
        try Self.rename(temporary.path, path(of: name))
    }

    private static func systemUnlink(_ path: String) -> Int32 {
        #if canImport(Darwin)
        unsafe Darwin.unlink(path)
        #else
        unsafe Glibc.unlink(path)
        #endif
    }

    private static func rename(_ path: String, _ other: String) throws(FileFailure) {
        // Glibc's function, which replaces an existing file atomically.
        if unsafe renameat(AT_FDCWD, path, AT_FDCWD, other) != 0 { throw .last }
    }

    // MARK: Temporary files

    private static let temporaryFolder = "tmp"

    private func temporaryPath() -> String {
        let number = temporaryCount.wrappingAdd(1, ordering: .relaxed).oldValue
        return "\(base)/\(Self.temporaryFolder)/\(temporaryPrefix)-\(number)"
    }

    /// Creates a file, accessible only to its owner, that is locked as long as it is written.
    func create() throws(FileFailure) -> TemporaryFile {
        var attempts = 0
        while true {
            attempts += 1
            let path = temporaryPath()
            do throws(FileFailure) {
                let file = try OpenFile(creating: path, traffic: traffic)
                // Another one may have taken it for that of a process that has ended, and removed it.
                guard file.lock(), file.hasName else {
                    if attempts > 8 { throw FileFailure(code: EAGAIN) }
                    continue
                }
                return TemporaryFile(path: path, file: file)
            } catch {
                guard error.code == ENOENT, attempts == 1 else { throw error }
                // The folder has been removed.
                try prepare()
            }
        }
    }

    /// Removes temporary files: of processes that have ended, or all.
    func removeTemporaryFiles(includingActive: Bool = false) {
        let folder = "\(base)/\(Self.temporaryFolder)"
        for name in (try? Self.names(in: folder)) ?? [] {
            let path = "\(folder)/\(name)"
            let file = includingActive ? nil : try? OpenFile(reading: path)
            guard includingActive || file?.lock() == true else { continue }
            // A writer that takes the lock expects that the file keeps its name.
            withExtendedLifetime(file) { _ = Self.systemUnlink(path) }
        }
    }

    /// Removes the files of the earliest versions of the format, which were in the folder itself.
    ///
    /// A folder of another version is left alone: one with such a name can belong to something else.
    func removeEarlierVersions() {
        for name in (try? Self.names(in: path)) ?? [] where Self.isOfEarlierVersion(name) {
            _ = Self.systemUnlink("\(path)/\(name)")
        }
    }

    private static func isOfEarlierVersion(_ name: String) -> Bool {
        let head = ".head"
        let entry = name.hasSuffix(head) ? String(name.dropLast(head.count)) : name
        return isTemporaryOfEarlierVersion(name) || EntryKind(entry) != nil
    }

    /// Returns whether a name is `new-`, the number of a process, a hyphen, and a random number of 64 bits.
    ///
    /// A file whose name only begins in this way can belong to something else.
    private static func isTemporaryOfEarlierVersion(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "new", (8...16).contains(parts[2].utf8.count) else { return false }
        return !parts[1].isEmpty && parts[1].utf8.allSatisfy { (0x30...0x39).contains($0) }
            && parts[2].utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}

extension EntryFolder {
    /// A file of an entry, or a list of variants.
    struct File {
        let name: String
        /// The maximum ``size``, so that sums cannot overflow: a sparse file can have almost any size.
        static let maximumSize = 1 << 40
        /// The size in bytes, at most ``maximumSize``.
        let size: Int
        /// The time of the last use, in nanoseconds since 1970.
        let usedAt: Int

        init?(name: String, path: String) {
            var status = stat()
            guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else { return nil }
            self.name = name
            size = min(Int(status.st_size), Self.maximumSize)
            usedAt = status.modificationTime
        }

        /// The space that the file takes: its size in whole blocks of 4 KiB.
        var space: Int { Self.space(of: size) }

        static func space(of size: Int) -> Int { (max(size, 0) + 4_095) & ~4_095 }
    }
}

/// A file that is being written and not an entry yet.
struct TemporaryFile {
    let path: String
    let file: OpenFile

    /// Removes the file.
    func remove() {
        #if canImport(Darwin)
        _ = unsafe Darwin.unlink(path)
        #else
        _ = unsafe Glibc.unlink(path)
        #endif
    }
}
