import HTTPSemantics
package import HTTPTransport
import HTTPTypes
import Threading

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

// Work on the cache's threads.
extension ResponseCache {
    /// Returns the stored response of a kind for a request; `nil` if there is none, or its head is damaged.
    package func find(
        _ kind: EntryKind, _ request: TransportRequest, _ key: CacheKey,
        where isUsable: (StoredResponse) -> Bool = { _ in true }
    ) -> StoredResponse? {
        func find(_ names: [String]) -> StoredResponse? {
            for name in names {
                guard let stored = open(name), stored.head.answers(key, request.headerFields), isUsable(stored),
                    !hasExpired(stored.head)
                else {
                    continue
                }
                touch(stored)
                return stored
            }
            return nil
        }
        guard let folder else { return find(entries.withLock { $0.names(key.name) }.filter { EntryKind($0) == kind }) }
        // Requested parts have names of their own.
        if kind != .range, let stored = find([kind.name(StoredHead.plainName(key))]) { return stored }
        return find(folder.variants(of: key.name).map { kind.name($0) })
    }

    /// Returns whether a response is older than the configuration allows.
    private func hasExpired(_ head: StoredHead) -> Bool {
        configuration.maximumAge.map { now() - head.receivedAt >= $0 } ?? false
    }

    private func touch(_ stored: StoredResponse) {
        switch stored.body {
        case .file(let file, _): file?.touch()
        case .memory: entries.withLock { $0.touch(stored.name) }
        case .loaded: break
        }
    }

    /// Opens an entry by its name; removes it if its head is damaged.
    func open(_ name: String) -> StoredResponse? {
        guard let folder else { return entries.withLock { $0.content(name) } }
        guard let kind = EntryKind(name), !unremovable.withLock({ $0.contains(name) }) else { return nil }
        // If file descriptors have run out, for example, the entry still exists.
        guard let file = try? folder.open(name) else { return nil }
        guard let contents = EntryFile.read(kind, file) else {
            removeDamaged(name)
            return nil
        }
        return StoredResponse(name: name, head: contents.head, body: .file(file, contents.body))
    }

    /// Returns a response whose short body has been read and verified; `nil` if it is damaged and has been removed.
    func load(_ stored: StoredResponse) -> StoredResponse? {
        guard case .file(.some, let facts) = stored.body, stored.body.isShort else { return stored }
        var reader = StoredBodyReader(stored.body)
        do {
            return StoredResponse(name: stored.name, head: stored.head, body: .loaded(try reader.next() ?? [], facts))
        } catch {
            removeDamaged(stored.name)
            return nil
        }
    }

    func remove(_ name: String) {
        if let folder {
            folder.remove(name)
        } else {
            entries.withLock { _ = $0.remove(name) }
        }
    }

    /// Removes a damaged entry; one that cannot be removed is ignored from now on.
    func removeDamaged(_ name: String) {
        remove(name)
        if let folder, folder.has(name) { unremovable.withLock { _ = $0.insert(name) } }
    }

    /// Returns the names of all entries of a key.
    func names(_ key: CacheKey) -> [String] {
        guard let folder else { return entries.withLock { $0.names(key.name) } }
        return ([StoredHead.plainName(key)] + folder.variants(of: key.name)).flatMap(EntryKind.names)
            .filter { folder.has($0) }
    }

    func removeEntries(_ key: CacheKey) {
        for name in names(key) { remove(name) }
    }

    /// Removes the entries that a response that cannot be stored would have replaced.
    ///
    /// Keeps responses requested later, and responses to requests that differ by `Vary`.
    func removeReplaced(by head: StoredHead, _ key: CacheKey) {
        guard head.kind == .whole else { return remove(head.kind.name(head.name(key))) }
        let whole = head.name(key)
        let own = [whole, EntryKind.part.name(whole)]
        for name in Set(names(key) + own) {
            guard let stored = open(name)?.head else {
                // If file descriptors have run out, for example, its age is unknown.
                if own.contains(name) { remove(name) }
                continue
            }
            let isVariant = stored.selection != head.selection && VaryRule(stored.fields) == VaryRule(head.fields)
            if !isVariant, stored.requestedAt <= head.requestedAt { remove(name) }
        }
    }

    /// Returns an entry that was found before, with its file open; `nil` if it has been removed or replaced.
    func reopen(_ stored: StoredResponse) -> StoredResponse? {
        guard let facts = stored.body.facts else { return stored }
        guard case .file(let file?, let found)? = open(stored.name)?.body, found == facts else { return nil }
        return StoredResponse(name: stored.name, head: stored.head, body: .file(file, facts))
    }

    /// Updates the head of an entry, unless it has been changed in the meantime.
    ///
    /// Its body is neither read nor written. Returns the entry by its new name, or as it was.
    func renew(_ stored: StoredResponse, _ head: StoredHead, _ key: CacheKey) -> StoredResponse {
        guard CacheControl(head.fields).allowsStoring(head.status), VaryRule(head.fields).canMatch else {
            if holds(stored) { remove(stored.name) }
            return stored
        }
        let renewed = StoredResponse(name: head.name(key), head: head, body: stored.body)
        if let folder, let facts = stored.body.facts {
            return renew(stored, to: renewed, facts, in: folder) ? renewed : stored
        }
        guard case .memory(_, let length) = stored.body, holds(stored) else { return stored }
        if renewed.name != stored.name { remove(stored.name) }
        insert(renewed, size: length + head.bytes.count)
        return renewed
    }

    private func renew(
        _ stored: StoredResponse, to renewed: StoredResponse, _ facts: EntryFile.BodyFacts, in folder: EntryFolder
    ) -> Bool {
        guard let file = try? folder.openForUpdate(stored.name),
            let contents = EntryFile.read(.whole, file), contents.body == facts
        else { return false }
        // A head that has become much longer is not stored: the entry remains as it was.
        guard let update = EntryFile.update(renewed.head.bytes, after: contents.slot, of: facts) else { return false }
        do throws(FileFailure) {
            try file.write(update.bytes, at: update.offset)
            if renewed.name != stored.name { try folder.move(stored.name, to: renewed.name) }
            return true
        } catch {
            note(error)
            return false
        }
    }

    /// Returns whether an entry has been neither removed nor replaced since it was found.
    private func holds(_ stored: StoredResponse) -> Bool {
        guard let known = open(stored.name) else { return false }
        if let facts = stored.body.facts { return known.body.facts == facts }
        return known.body.length == stored.body.length && known.head == stored.head
    }

    // MARK: New entries

    /// Adds an entry in memory; a complete response replaces the stored beginning of its body.
    func insert(_ stored: StoredResponse, size: Int) {
        let removed = entries.withLock { entries in
            if EntryKind(stored.name) == .whole { _ = entries.remove(EntryKind.part.name(stored.name)) }
            return entries.insert(stored.name, size: size, stored)
        }
        uses.record(.eviction, count: removed.count)
    }

    /// Makes a temporary file an entry; returns `false` if that is impossible.
    func insert(_ temporary: TemporaryFile, as name: String, size: Int) -> Bool {
        guard let folder else { return false }
        do throws(FileFailure) {
            try writing(size) { () throws(FileFailure) in try folder.insert(temporary, as: name, size: size) }
        } catch {
            return false
        }
        unremovable.withLock { _ = $0.remove(name) }
        enforceLimit(after: size)
        return true
    }

    /// Runs `write`, which needs `count` bytes; if the disk is full, removes other entries and runs it again.
    func writing<Result>(_ count: Int, _ write: () throws(FileFailure) -> Result) throws(FileFailure) -> Result {
        var attempts = 0
        while true {
            do throws(FileFailure) {
                return try write()
            } catch {
                attempts += 1
                guard error.code == ENOSPC || error.code == EDQUOT, attempts <= 3, let folder, let eviction,
                    folder.totals.entries > 0
                else {
                    note(error)
                    throw error
                }
                // Directories and the neighbors of this process need some space as well.
                eviction.free(max(4 * count, 64 << 10) << attempts)
            }
        }
    }

    /// Removes the least recently used entries if the limit is exceeded, which is checked for the first new entry, and
    /// then each time 1/256 of the limit has been added.
    private func enforceLimit(after size: Int) {
        let isDue = uncheckedBytes.withLock { bytes in
            bytes -= size
            guard bytes < 0 else { return false }
            bytes = configuration.maximumBytes / 256
            return true
        }
        if isDue { thread.append(to: .long) { [self] in enforceLimit() } }
    }

    /// Removes the least recently used entries if the limit is exceeded.
    func enforceLimit() { eviction?.enforce(configuration.maximumBytes) }

    /// Records and reports why the folder cannot be used, unless it has just been removed, or file descriptors have run
    /// out.
    func note(_ failure: FileFailure) {
        guard failure.code != ENOENT, !OpenFileLimit.isShortage(failure.code) else { return }
        let report = folderFailure.withLock { state -> (@Sendable (FileFailure) -> Void)? in
            guard state.failure == nil else { return nil }
            state.failure = failure
            state.isReported = state.report != nil
            return state.report
        }
        report?(failure)
    }
}

/// The first error that prevented storing a response, and the closure that reports it.
struct FolderFailure: Sendable {
    var failure: FileFailure?
    var report: (@Sendable (FileFailure) -> Void)?
    var isReported = false
}
