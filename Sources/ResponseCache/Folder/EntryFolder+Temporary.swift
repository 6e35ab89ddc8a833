import Synchronization

import Glibc

// Files that are being written, and those that killed processes have left.
extension EntryFolder {
    private func temporaryName() -> String {
        let number = temporaryCount.wrappingAdd(1, ordering: .relaxed).oldValue
        return "\(temporaryPrefix)-\(number)"
    }

    /// Returns whether a name is that of a temporary file: a hexadecimal number of 64 bits, a hyphen, and a number.
    private static func isTemporaryName(_ name: String) -> Bool {
        let parts = name.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return parts.count == 2 && (1...16).contains(parts[0].count) && (1...19).contains(parts[1].count)
            && parts[0].allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
            && parts[1].allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func temporaryPath(_ name: String) -> String { "\(temporaryFolder)/\(name)" }

    /// Creates a file, accessible only to its owner, that is locked as long as it is written.
    func create() throws(FileFailure) -> TemporaryFile {
        try requireWritable()
        var attempts = 0
        while true {
            attempts += 1
            do throws(FileFailure) {
                let folder = try opened()
                try folder.requireFolder(Self.temporaryFolder)
                let path = Self.temporaryPath(temporaryName())
                let file = try OpenFile(creating: path, in: folder, traffic: traffic)
                // Another one may have taken it for that of a process that has ended, and removed it.
                guard file.lock(), file.hasName else {
                    if attempts > 8 { throw FileFailure(code: EAGAIN) }
                    continue
                }
                return TemporaryFile(folder: folder, path: path, file: file)
            } catch {
                guard error.code == ENOENT, attempts == 1 else { throw error }
                // The folder has been removed.
                try prepare()
            }
        }
    }

    /// Removes all temporary files, including those that are being written.
    func removeTemporaryFiles() {
        guard let folder = try? opened() else { return }
        for name in temporaryNames { _ = try? folder.unlink(Self.temporaryPath(name)) }
    }

    /// Removes the files of processes that have ended; those with the beginning of a body that can be continued become
    /// partial entries.
    func removeLeftovers() {
        guard let folder = try? opened() else { return }
        for name in temporaryNames {
            let path = Self.temporaryPath(name)
            // A file that is being written is locked.
            guard let file = try? OpenFile(updating: path, in: folder), file.lock() else { continue }
            let temporary = TemporaryFile(folder: folder, path: path, file: file)
            // A writer that takes the lock expects that the file keeps its name.
            if !keep(temporary) { temporary.remove() }
        }
    }

    private var temporaryNames: [String] {
        guard let folder = try? OpenFolder(Self.temporaryFolder, in: opened()) else { return [] }
        return ((try? folder.names()) ?? []).filter(Self.isTemporaryName)
    }

    /// Makes a partial entry of a file whose process has ended, if it has been recorded how much of the file is intact;
    /// returns `false` if it is of no use.
    ///
    /// The body is verified before it is continued.
    private func keep(_ temporary: TemporaryFile) -> Bool {
        guard let contents = try? EntryFile.read(.part, temporary.file, isUnfinished: true) else { return false }
        let head = contents.head
        let key = head.key(CachedResource(url: head.url, owner: head.owner), .part)
        guard !has(.entry(key.with(.whole))), !hasMore(than: contents, key) else { return false }
        let size = contents.layout.fileSize
        do throws(FileFailure) {
            try temporary.file.truncate(to: size)
            try insert(temporary, as: key, size: size)
            return true
        } catch {
            return false
        }
    }

    /// Returns whether an entry has a longer beginning of the same response, or one of a response requested later.
    private func hasMore(than contents: EntryFile.Contents, _ key: ResponseStorageKey) -> Bool {
        guard let file = try? open(.entry(key)), let stored = try? EntryFile.read(.part, file) else { return false }
        return (stored.head.requestedAt, stored.layout.body.length)
            >= (contents.head.requestedAt, contents.layout.body.length)
    }
}

/// A file that is being written and not an entry yet.
struct TemporaryFile {
    /// The folder of the files.
    let folder: OpenFolder
    /// The path in the folder.
    let path: String
    let file: OpenFile

    /// Removes the file.
    func remove() { _ = try? folder.unlink(path) }
}
