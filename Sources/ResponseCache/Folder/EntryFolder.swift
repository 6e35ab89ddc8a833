import Hashing
import Synchronization
import Threading

import Glibc

/// The folder of a cache: its files, and changes to one shard at a time.
///
/// Entries are in 256 shards, folders named after the first two digits of their names, so that every entry is found by
/// its key. The folder of the format's version contains the shards, the files being written, and the ledger of the
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
    let removedUnlocked = Locked<[Int: [ResponseStorageKey]]>([:])
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

    // MARK: Shards

    /// Returns the name of the folder of a shard.
    private static func name(of shard: Int) -> String { [UInt8(truncatingIfNeeded: shard)].hexadecimal }

    /// Returns the folder of the files if the shard of a file is a folder in it.
    private func folder(withShardOf file: ShardFile) throws(FileFailure) -> OpenFolder {
        let folder = try opened()
        try folder.requireFolder(file.folder)
        return folder
    }

    // MARK: Files

    /// Opens a file for reading.
    func open(_ file: ShardFile) throws(FileFailure) -> OpenFile {
        try OpenFile(reading: file.path, in: folder(withShardOf: file), traffic: traffic)
    }

    /// Opens a file for reading without waiting for a disk; throws `EAGAIN` if that is impossible.
    func openAtOnce(_ file: ShardFile) throws(FileFailure) -> OpenFile {
        guard let folder = baseInUse.withLock({ $0 }) else { throw FileFailure(code: EAGAIN) }
        return try OpenFile(readingAtOnce: file.path, in: folder, traffic: traffic)
    }

    /// Sets the time of the last use of a file, in nanoseconds since 1970.
    func markUsed(_ file: ShardFile, at time: Int) {
        if !isReadOnly, let folder = try? folder(withShardOf: file) {
            OpenFile.touch(file.path, in: folder, at: time)
        }
    }

    /// Opens a file for reading and writing; if it does not exist, it is created if `creates` is `true`.
    func openForUpdate(_ file: ShardFile, creates: Bool = false) throws(FileFailure) -> OpenFile {
        try requireWritable()
        return try OpenFile(updating: file.path, in: folder(withShardOf: file), creates: creates, traffic: traffic)
    }

    /// Returns whether a file exists, or might exist.
    func has(_ file: ShardFile) -> Bool {
        do throws(FileFailure) {
            _ = try folder(withShardOf: file).status(of: file.path)
            return true
        } catch {
            return error.code != ENOENT
        }
    }

    /// Returns the status of a file; `nil` if there is none.
    func status(_ file: ShardFile) -> Status? { (try? folder(withShardOf: file)).flatMap { Status(of: file, in: $0) } }

    /// Returns the files in a shard, unordered.
    func files(in shard: Int) throws(FileFailure) -> [ShardFile] {
        let folder = Self.name(of: shard)
        do throws(FileFailure) {
            return try OpenFolder(folder, in: opened()).names().compactMap { name in
                name.hasPrefix(folder) ? ShardFile(name: name) : nil
            }
        } catch {
            guard error.code == ENOENT else { throw error }
            return []
        }
    }

    /// Returns the statuses of the files in a shard, unordered; files that vanish in the meantime are omitted.
    func statuses(in shard: Int) -> [Status] {
        guard let folder = try? opened() else { return [] }
        return ((try? files(in: shard)) ?? []).compactMap { Status(of: $0, in: folder) }
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
    func unlink(_ file: ShardFile) throws(FileFailure) -> Bool {
        try requireWritable()
        do throws(FileFailure) {
            return try folder(withShardOf: file).unlink(file.path)
        } catch {
            guard error.code == ENOENT else { throw error }
            return false
        }
    }

    /// Makes a temporary file an entry, or replaces one, in a shard, which must be locked.
    func rename(_ temporary: TemporaryFile, to file: ShardFile) throws(FileFailure) {
        try folder(withShardOf: file).rename(temporary.path, to: file.path)
    }
}

extension EntryFolder {
    /// The size and the last use of a file.
    struct Status {
        let file: ShardFile
        /// The maximum ``size``, so that sums cannot overflow: a sparse file can have almost any size.
        static let maximumSize = 1 << 40
        /// The size in bytes, at most ``maximumSize``.
        let size: Int
        /// The time of the last use, in nanoseconds since 1970.
        let usedAt: Int

        init?(of file: ShardFile, in folder: OpenFolder) {
            guard let status = try? folder.status(of: file.path), status.st_mode & S_IFMT != S_IFDIR else {
                return nil
            }
            self.file = file
            size = min(Int(status.st_size), Self.maximumSize)
            usedAt = status.modificationTime
        }

        /// The space that the file takes: its size in whole blocks of 4 KiB.
        var space: Int { Self.space(of: size) }

        static func space(of size: Int) -> Int { (max(size, 0) + 4_095) & ~4_095 }
    }
}
