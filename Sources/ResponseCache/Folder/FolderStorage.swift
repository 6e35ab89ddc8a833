import Synchronization
import Threading

import Glibc

/// A storage of responses in the files of a folder.
final class FolderStorage: ResponseStorage {
    let folder: EntryFolder
    private let eviction: EntryEviction
    let pendingUses = Locked(PendingUses())
    /// A Boolean value that indicates whether the system can read its files without waiting for a disk, as far as known.
    let isImmediate = Atomic(true)

    /// Opens the folder at `path`; see ``EntryFolder/init(path:isCreated:isReadOnly:traffic:)``.
    init(path: String, isCreated: Bool, isReadOnly: Bool = false, traffic: FileIOStatistics?) throws(FileFailure) {
        folder = try EntryFolder(path: path, isCreated: isCreated, isReadOnly: isReadOnly, traffic: traffic)
        eviction = EntryEviction(folder)
    }

    /// Creates the folders and the ledger, and removes the files of processes that have ended, or makes entries of them.
    func prepare() throws(FileFailure) {
        try folder.prepare()
        try folder.prepareLedger()
        folder.removeLeftovers()
    }

    var byteCount: Int { folder.totals.bytes }
    var entryCount: Int { folder.totals.entries }

    func entry(_ key: ResponseStorageKey) throws -> (any ResponseStorageEntry)? {
        let file: OpenFile
        do throws(FileFailure) {
            file = try folder.open(.entry(key))
        } catch {
            // Without a free file descriptor, the system does not even look for the file.
            guard error.code == ENOENT || !folder.has(.entry(key)) else { throw error }
            return nil
        }
        guard let contents = try EntryFile.read(key.kind, file) else { throw ResponseStorageError.damaged }
        return Entry(file: file, contents: contents)
    }

    func keys(ofResource resource: String) -> [ResponseStorageKey] {
        folder.keys(of: resource)
    }

    var portionCount: Int { EntryFolder.shardCount }

    func keys(inPortion portion: Int) throws -> [ResponseStorageKey] {
        try folder.files(in: portion).compactMap { if case .entry(let key) = $0 { key } else { nil } }
    }

    func writer(headByteCount: Int) throws -> any ResponseStorageWriter {
        guard let offset = EntryFile.regionLength(forHead: headByteCount) else {
            throw ResponseStorageError.unavailable
        }
        return Writer(folder: folder, file: try folder.create(), offset: offset)
    }

    func replaceHead(_ key: ResponseStorageKey, with head: ResponseStorageHead) throws -> Bool {
        let file = try folder.openForUpdate(.entry(key))
        // A head that has become much longer does not fit.
        guard let contents = try EntryFile.read(key.kind, file), contents.layout.body == head.body,
            head.head.updates(contents.head),
            let update = EntryFile.update(head.head.bytes, of: contents)
        else { return false }
        try file.write(update.bytes, at: update.offset)
        return true
    }

    func remove(_ key: ResponseStorageKey) throws {
        do throws(FileFailure) {
            try folder.remove(key)
        } catch {
            // Another process keeps the lock, or there is no file descriptor for it: the response cannot be replaced
            // either, and would be used although it is outdated.
            guard error.code == EAGAIN || OpenFileLimit.isShortage(error.code) else { throw error }
            try folder.removeUnlocked(key)
        }
    }

    func removeAll() throws { try folder.removeAll() }

    func trim(to maximumBytes: Int) throws -> Int {
        recordUses()
        return try eviction.enforce(maximumBytes)
    }
}

extension FolderStorage {
    private struct Entry: ResponseStorageEntry {
        let file: OpenFile
        let contents: EntryFile.Contents

        var head: ResponseStorageHead { ResponseStorageHead(contents.head, contents.layout.body) }
        var byteCount: Int { EntryFolder.Status.space(of: contents.layout.fileSize) }

        func read(_ maximumCount: Int, at offset: Int) throws -> [UInt8] {
            try file.read(maximumCount, at: contents.layout.offset + offset)
        }

        func markUsed() { file.touch() }
    }

    /// A temporary file until it is complete.
    private struct Writer: CheckpointingWriter {
        /// The number of bytes that are kept to be written together, so that a short entry is written by one call.
        private static let batch = 64 << 10
        /// The number of pieces that are kept.
        private static let maximumPieces = 8

        let folder: EntryFolder
        let file: TemporaryFile
        /// The position of the body in the file.
        let offset: Int
        /// The number of bytes that have been written.
        private var length = 0
        /// The bytes that follow.
        private var pieces: [[UInt8]] = []
        private var keptLength = 0

        init(folder: EntryFolder, file: TemporaryFile, offset: Int) {
            self.folder = folder
            self.file = file
            self.offset = offset
        }

        mutating func append(_ bytes: [UInt8]) throws {
            if keptLength + bytes.count > Self.batch || pieces.count >= Self.maximumPieces {
                try file.file.write(pieces + [bytes], at: offset + length)
                length += keptLength + bytes.count
                (pieces, keptLength) = ([], 0)
            } else {
                pieces.append(bytes)
                keptLength += bytes.count
            }
        }

        mutating func checkpoint(_ head: ResponseStorageHead) throws {
            let layout = EntryFile.Layout(body: head.body, offset: offset)
            guard head.body.length == length + keptLength else { return }
            if !pieces.isEmpty { try file.file.write(pieces, at: offset + length) }
            (length, pieces, keptLength) = (length + keptLength, [], 0)
            // After the bytes that it describes.
            try file.file.write(EntryFile.region(.part, head: head.head.bytes, layout), at: 0)
        }

        mutating func commit(_ head: ResponseStorageHead, as key: ResponseStorageKey) throws {
            let layout = EntryFile.Layout(body: head.body, offset: offset)
            let region = EntryFile.region(key.kind, head: head.head.bytes, layout)
            if length == 0 {
                try file.file.write([region] + pieces, at: 0)
            } else {
                try file.file.write(pieces, at: offset + length)
                try file.file.write(region, at: 0)
            }
            file.file.touch()
            try folder.insert(file, as: key, size: layout.fileSize)
        }

        func discard() { file.remove() }
    }
}

extension FileFailure {
    /// The special meaning of the error for a storage in a folder; `nil` if it has none.
    fileprivate var forStorage: ResponseStorageError? {
        switch code {
        case ENOSPC, EDQUOT: .full
        // The folder has just been removed, or another process takes too long to change the shard.
        case ENOENT, EAGAIN: .unavailable
        default: OpenFileLimit.isShortage(code) ? .unavailable : nil
        }
    }
}

extension Error {
    /// The special meaning of an error of a storage; `nil` if it has none.
    ///
    /// The folder throws the errors of the system as they are, so that reports name the cause.
    var forStorage: ResponseStorageError? { self as? ResponseStorageError ?? (self as? FileFailure)?.forStorage }
}
