import HTTPSemantics
package import HTTPTransport
import HTTPTypes
import Threading

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

// Work on the cache's thread.
extension ResponseCache {
    /// Returns the stored response of a kind for a request; `nil` if there is none, or its head is damaged.
    package func find(
        _ kind: EntryKind, _ request: TransportRequest, _ key: CacheKey,
        where isUsable: (StoredResponse) -> Bool = { _ in true }
    ) -> StoredResponse? {
        var names = index.withLock { $0.names(key.name) }.filter { EntryKind($0) == kind }
        // Another process can have stored it, or the folder has not been indexed yet.
        let plain = kind.name(StoredHead.plainName(key))
        if kind != .range, folder != nil, !names.contains(plain) { names.append(plain) }
        for name in names {
            guard let stored = open(name), stored.head.answers(key, request.headerFields), isUsable(stored) else {
                continue
            }
            index.withLock { $0.touch(name) }
            if case .file(let file, _) = stored.body { file?.touch() }
            return stored
        }
        return nil
    }

    /// Opens an entry by its name; removes it if its head is damaged.
    func open(_ name: String) -> StoredResponse? {
        guard let folder else { return index.withLock { $0.content(name) } ?? nil }
        guard !unremovable.withLock({ $0.contains(name) }) else { return nil }
        let file: OpenFile
        do throws(FileFailure) {
            file = try folder.open(name)
        } catch {
            // If descriptors are lacking, for example, the entry still exists.
            if error.code == ENOENT { index.withLock { _ = $0.remove(name) } }
            return nil
        }
        guard let kind = EntryKind(name), let (head, body) = EntryFile.read(kind, file) else {
            removeDamaged(name)
            return nil
        }
        let renewed = kind == .whole ? try? folder.open(RenewedHeadFile.name(name)) : nil
        let renewedHead = renewed.flatMap { RenewedHeadFile.read($0, of: body) }
        return StoredResponse(name: name, head: renewedHead ?? head, body: .file(file, body))
    }

    func remove(_ name: String) {
        index.withLock { _ = $0.remove(name) }
        folder?.removeEntry(name)
    }

    /// Removes a damaged entry; one that cannot be removed is ignored from now on.
    func removeDamaged(_ name: String) {
        remove(name)
        if let folder, folder.has(name) { unremovable.withLock { _ = $0.insert(name) } }
    }

    func removeEntries(_ key: CacheKey) {
        let plain = StoredHead.plainName(key)
        for name in index.withLock({ $0.names(key.name) }) + [plain, EntryKind.part.name(plain)] { remove(name) }
    }

    /// Removes the entries that a response that cannot be stored would have replaced.
    ///
    /// Keeps responses requested later, and responses to requests that differ by `Vary`.
    func removeReplaced(by head: StoredHead, _ key: CacheKey) {
        guard head.kind == .whole else { return remove(head.kind.name(head.name(key))) }
        let whole = head.name(key)
        let own = [whole, EntryKind.part.name(whole)]
        for name in Set(index.withLock { $0.names(key.name) } + own) {
            guard let stored = open(name)?.head else {
                // If descriptors are lacking, for example, its age is unknown.
                if own.contains(name) { remove(name) }
                continue
            }
            let isVariant = stored.selection != head.selection && VaryRule(stored.fields) == VaryRule(head.fields)
            if !isVariant, stored.requestedAt <= head.requestedAt { remove(name) }
        }
    }

    /// Returns an entry that was found before, with its file open; `nil` if it has been removed or replaced.
    func reopen(_ stored: StoredResponse) -> StoredResponse? {
        guard case .file(_, let facts) = stored.body else { return stored }
        guard case .file(let file?, let found)? = open(stored.name)?.body, found == facts else { return nil }
        return StoredResponse(name: stored.name, head: stored.head, body: .file(file, facts))
    }

    /// Returns whether an entry has been neither removed nor replaced since it was found.
    private func holds(_ stored: StoredResponse) -> Bool {
        switch (stored.body, open(stored.name)?.body) {
        case (.file(_, let found), .file(_, let known)?): found == known
        case (.memory(_, let length), let known?): known.length == length && open(stored.name)?.head == stored.head
        default: false
        }
    }

    /// Updates the head of an entry, unless it has been changed in the meantime.
    ///
    /// Its body is neither read nor written. Returns the entry by its new name, or as it was.
    func renew(_ stored: StoredResponse, _ head: StoredHead, _ key: CacheKey) -> StoredResponse {
        guard holds(stored) else { return stored }
        guard CacheControl(head.fields).allowsStoring(head.status), VaryRule(head.fields).canMatch else {
            remove(stored.name)
            return stored
        }
        let name = head.name(key)
        let renewed = StoredResponse(name: name, head: head, body: stored.body)
        switch stored.body {
        case .memory(_, let length):
            if name != stored.name { remove(stored.name) }
            insert(name, size: EntryFile.prefixLength + length + head.bytes.count, renewed)
        case .file(let file, let body):
            let bytes = RenewedHeadFile.bytes(head, of: body)
            guard let folder, let size = file?.size, (try? folder.replaceHead(of: stored.name, name, by: bytes)) != nil
            else { return stored }
            if name != stored.name { remove(stored.name) }
            insert(name, size: size + bytes.count, nil)
        }
        return renewed
    }

    /// Adds a written entry to the index; a whole body replaces its beginning.
    func insert(_ name: String, size: Int, _ content: StoredResponse?) {
        let part = EntryKind.part.name(name)
        let removed = index.withLock { index in
            let hadPart = EntryKind(name) == .whole && index.remove(part)
            return (hadPart ? [part] : []) + index.insert(name, size: size, content)
        }
        unremovable.withLock { _ = $0.remove(name) }
        for name in removed { folder?.removeEntry(name) }
    }

    /// Indexes the folder; not on the cache's thread, which would delay requests.
    func scan() {
        guard let folder else { return }
        let files = folder.files
        let now = HTTPDate.now
        for file in files where CacheFolder.isTemporary(file.name) && now - file.usedAt > 3_600 {
            // The file of a process that has ended.
            folder.remove(file.name)
        }
        let entries = entries(files, in: folder).sorted { $0.usedAt > $1.usedAt }
        takeInNext(entries[...])
    }

    /// Returns the entries among the files, with the total size of their files; removes heads without an entry.
    private func entries(_ files: [CacheFolder.File], in folder: CacheFolder) -> [CacheFolder.File] {
        var headSizes: [String: Int] = [:]
        for file in files {
            guard let entry = RenewedHeadFile.entry(file.name) else { continue }
            if folder.has(entry) { headSizes[entry] = file.size } else { folder.remove(file.name) }
        }
        return files.filter { EntryKind($0.name) != nil }.map { file in
            CacheFolder.File(name: file.name, size: file.size + (headSizes[file.name] ?? 0), usedAt: file.usedAt)
        }
    }

    /// Continues after pending work of requests.
    private func takeInNext(_ files: ArraySlice<CacheFolder.File>) {
        if !files.isEmpty { thread.append { [self] in takeIn(files) } }
    }

    /// The number of entries indexed before requests are served again.
    private static let entriesInTurn = 64

    /// Adds entries of the folder that still exist, as older than all known ones.
    private func takeIn(_ files: ArraySlice<CacheFolder.File>) {
        guard let folder else { return }
        let entries = files.prefix(Self.entriesInTurn).filter { folder.has($0.name) }
        let removed = index.withLock { index in
            for file in entries { index.insertOldest(file.name, size: file.size, nil) }
            return index.evict()
        }
        for name in removed { folder.removeEntry(name) }
        takeInNext(files.dropFirst(Self.entriesInTurn))
    }
}

extension CacheFolder {
    /// Removes all files of an entry.
    func removeEntry(_ name: String) {
        remove(name)
        if EntryKind(name) == .whole { remove(RenewedHeadFile.name(name)) }
    }

    /// Replaces the head of an entry, and its name if that has changed.
    fileprivate func replaceHead(of entry: String, _ name: String, by bytes: [UInt8]) throws(FileFailure) {
        let temporary = Self.temporaryName()
        do {
            try create(temporary).write(bytes, at: 0)
            if name != entry { try rename(entry, to: name) }
            try rename(temporary, to: RenewedHeadFile.name(name))
        } catch {
            remove(temporary)
            throw error
        }
    }
}
