import Hashing
import Synchronization
import Threading

import Glibc

/// The folder of a cache: its files, and changes to one shard at a time.
///
/// Entries are in 256 shards, folders named after the first two digits of their names, so that every entry is found by
/// its name. The folder of the format's version contains the shards, the files being written, and the ledger of the
/// totals. All are used by the descriptor of that folder, see ``OpenFolder``.
final class EntryFolder: Sendable {
    static let shardCount = 256
    /// The time for which a change of a shard waits for another one.
    ///
    /// A process that has been stopped keeps its lock.
    static let maximumLockTime: Duration = .seconds(1)
    private static let versionName = "v5"
    static let temporaryFolder = "tmp"

    /// The path of the cache.
    private let path: String
    /// The path of the files of this version of the format.
    let base: String
    /// A Boolean value that indicates whether nothing is changed, not even to correct a total or to remove leftovers.
    private let isReadOnly: Bool
    let traffic: FileIOStatistics?
    /// The beginning of the names of temporary files, which no other object uses.
    let temporaryPrefix = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    let temporaryCount = Atomic(0)
    /// The shards that others have locked for longer than ``maximumLockTime``; changes do not wait for them again.
    private let stalledShards = Locked<Set<Int>>([])
    /// The entries of each shard that ``removeUnlocked(_:)`` has removed since this object last changed the shard.
    let removedUnlocked = Locked<[Int: [String]]>([:])
    /// The ledger as it was opened last.
    let ledgerInUse = Locked<Ledger?>(nil)
    /// The totals of each shard that were read last.
    let knownTotals = Locked([Totals?](repeating: nil, count: shardCount))
    /// The folder of the files as it was opened last.
    private let baseInUse = Locked<OpenFolder?>(nil)

    /// Opens the folder at `path`, accessible only to its owner.
    ///
    /// If `isCreated` is `false` and the folder contains no cache, throws an error instead of creating it. Throws an
    /// error as well if the folder, or that of the files in it, belongs to another user, can be changed by others, or
    /// contains a link in place of a folder.
    init(
        path: String, isCreated: Bool = true, isReadOnly: Bool = false, traffic: FileIOStatistics? = nil
    ) throws(FileFailure) {
        self.path = path
        base = "\(path)/\(Self.versionName)"
        self.isReadOnly = isReadOnly
        self.traffic = traffic
        do throws(FileFailure) {
            _ = try OpenFolder(path: path)
        } catch {
            guard isCreated, error.code == ENOENT else { throw error }
            try Self.make(path)
            _ = try OpenFolder(path: path)
        }
        do throws(FileFailure) {
            try opened().requireFolder(Self.temporaryFolder)
        } catch {
            guard error.code == ENOENT, isCreated || baseInUse.withLock({ $0 }) != nil else { throw error }
        }
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
        try requireWritable()
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw .last }
        try OpenFolder(path: path).makeFolder(Self.versionName)
        try opened().makeFolder(Self.temporaryFolder)
    }

    /// Returns the folder of the files, which stays open as long as it is the one at its path.
    func opened() throws(FileFailure) -> OpenFolder {
        if let folder = baseInUse.withLock({ $0 }), folder.isFolder(at: base) { return folder }
        let folder = try OpenFolder(Self.versionName, in: OpenFolder(path: path))
        baseInUse.withLock { $0 = folder }
        return folder
    }

    /// Throws an error if nothing may be changed.
    func requireWritable() throws(FileFailure) {
        if isReadOnly { throw FileFailure(code: EROFS) }
    }

    // MARK: Names

    /// Returns the path of an entry's file in the folder of the files.
    static func path(of name: String) -> String { "\(name.prefix(2))/\(name)" }

    /// Returns the number of the shard of a name.
    static func shard(of name: String) -> Int { Int(name.prefix(2), radix: 16) ?? 0 }

    private static func name(of shard: Int) -> String { [UInt8(truncatingIfNeeded: shard)].hexadecimal }

    /// Returns the folder of the files if the shard of a name is a folder in it.
    private func folder(withShardOf name: String) throws(FileFailure) -> OpenFolder {
        let folder = try opened()
        try folder.requireFolder(String(name.prefix(2)))
        return folder
    }

    // MARK: Files

    /// Opens a file for reading.
    func open(_ name: String) throws(FileFailure) -> OpenFile {
        try OpenFile(reading: Self.path(of: name), in: folder(withShardOf: name), traffic: traffic)
    }

    /// Opens a file for reading without waiting for a disk; throws `EAGAIN` if that is impossible.
    func openAtOnce(_ name: String) throws(FileFailure) -> OpenFile {
        guard let folder = baseInUse.withLock({ $0 }) else { throw FileFailure(code: EAGAIN) }
        return try OpenFile(readingAtOnce: Self.path(of: name), in: folder, traffic: traffic)
    }

    /// Sets the time of the last use of a file, in nanoseconds since 1970.
    func markUsed(_ name: String, at time: Int) {
        if !isReadOnly, let folder = try? folder(withShardOf: name) {
            OpenFile.touch(Self.path(of: name), in: folder, at: time)
        }
    }

    /// Opens a file for reading and writing; if it does not exist, it is created if `creates` is `true`.
    func openForUpdate(_ name: String, creates: Bool = false) throws(FileFailure) -> OpenFile {
        try requireWritable()
        return try OpenFile(
            updating: Self.path(of: name), in: folder(withShardOf: name), creates: creates, traffic: traffic)
    }

    /// Returns whether a file with this name exists, or might exist.
    func has(_ name: String) -> Bool {
        do throws(FileFailure) {
            _ = try folder(withShardOf: name).status(of: Self.path(of: name))
            return true
        } catch {
            return error.code != ENOENT
        }
    }

    /// Returns the file with a name; `nil` if there is none.
    func file(_ name: String) -> File? { (try? folder(withShardOf: name)).flatMap { File(name: name, in: $0) } }

    /// Returns the names of the entries and the lists of variants in a shard, unordered.
    ///
    /// Other files belong to somebody else.
    func names(in shard: Int) throws(FileFailure) -> [String] {
        let folder = Self.name(of: shard)
        do throws(FileFailure) {
            return try OpenFolder(folder, in: opened()).names().filter { name in
                name.hasPrefix(folder) && (EntryKind(name) != nil || Self.isListName(name))
            }
        } catch {
            guard error.code == ENOENT else { throw error }
            return []
        }
    }

    /// Returns the files in a shard, unordered; files that vanish in the meantime are omitted.
    func files(in shard: Int) -> [File] {
        guard let folder = try? opened() else { return [] }
        return ((try? names(in: shard)) ?? []).compactMap { File(name: $0, in: folder) }
    }

    /// Returns whether a shard has been created.
    func hasFolder(_ shard: Int) -> Bool { (try? opened().requireFolder(Self.name(of: shard))) != nil }

    // MARK: Changes

    /// Runs `body` while no other thread or process changes the shard, which is created if necessary.
    ///
    /// Throws `EAGAIN` if another one takes longer than ``maximumLockTime``.
    func withShard<Result>(
        _ shard: Int, _ body: () throws(FileFailure) -> Result
    ) throws(FileFailure) -> Result {
        try requireWritable()
        let (name, folder) = (Self.name(of: shard), try opened())
        try folder.makeFolder(name)
        let lock = try OpenFile(folder: name, in: folder)
        let isStalled = stalledShards.withLock { $0.contains(shard) }
        guard lock.lock(upTo: isStalled ? .zero : Self.maximumLockTime) else {
            let failure = FileFailure.last
            if failure.code == EAGAIN { stalledShards.withLock { _ = $0.insert(shard) } }
            throw failure
        }
        if isStalled { stalledShards.withLock { _ = $0.remove(shard) } }
        return try withExtendedLifetime(lock) { () throws(FileFailure) in try body() }
    }

    /// Removes a file from a shard; returns whether there was one.
    ///
    /// The shard must be locked, except by ``removeUnlocked(_:)``.
    @discardableResult
    func unlink(_ name: String) throws(FileFailure) -> Bool {
        try requireWritable()
        do throws(FileFailure) {
            return try folder(withShardOf: name).unlink(Self.path(of: name))
        } catch {
            guard error.code == ENOENT else { throw error }
            return false
        }
    }

    /// Makes a temporary file an entry, or replaces one, in a shard, which must be locked.
    func rename(_ temporary: TemporaryFile, to name: String) throws(FileFailure) {
        try folder(withShardOf: name).rename(temporary.path, to: Self.path(of: name))
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

        init?(name: String, in folder: OpenFolder) {
            guard let status = try? folder.status(of: EntryFolder.path(of: name)),
                status.st_mode & S_IFMT != S_IFDIR
            else { return nil }
            self.name = name
            size = min(Int(status.st_size), Self.maximumSize)
            usedAt = status.modificationTime
        }

        /// The space that the file takes: its size in whole blocks of 4 KiB.
        var space: Int { Self.space(of: size) }

        static func space(of size: Int) -> Int { (max(size, 0) + 4_095) & ~4_095 }
    }
}
