import HTTPTransport
import HTTPTypes
import Threading

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

// What is done on the cache's thread.
extension ResponseCache {
    /// What is stored of a kind for a request; nil if there is nothing, or it is damaged.
    func find(_ kind: EntryKind, _ request: TransportRequest, _ key: CacheKey) -> StoredResponse? {
        var names = index.withLock { $0.names(key.name) }.filter { EntryKind($0) == kind }
        // Another process may have stored it, or the folder was not looked through yet.
        let plain = kind.name(StoredHead.plainName(key))
        if folder != nil, !names.contains(plain) { names.append(plain) }
        for name in names {
            guard let stored = open(name), stored.head.answers(key, request.headerFields) else { continue }
            index.withLock { $0.touch(name) }
            if case .file(let file, _, _) = stored.body { file.touch() }
            return stored
        }
        return nil
    }

    /// An entry by its name; one that is damaged is removed.
    func open(_ name: String) -> StoredResponse? {
        guard let folder else { return index.withLock { $0.content(name) } ?? nil }
        let file: OpenFile
        do throws(FileFailure) {
            file = try OpenFile(reading: folder.path(of: name))
        } catch {
            // For want of descriptors, say, it is not gone.
            if error.code == ENOENT { index.withLock { _ = $0.remove(name) } }
            return nil
        }
        guard let kind = EntryKind(name), let stored = EntryFile.read(kind, file) else {
            remove(name)
            return nil
        }
        return stored
    }

    func remove(_ name: String) {
        index.withLock { _ = $0.remove(name) }
        folder?.remove(name)
    }

    func removeEntries(_ key: CacheKey) {
        let plain = StoredHead.plainName(key)
        for name in index.withLock({ $0.names(key.name) }) + [plain, EntryKind.part.name(plain)] { remove(name) }
    }

    /// Removes what a response that cannot be stored was to take the place of.
    ///
    /// Neither what was asked for later, nor the responses to requests that differ in what `Vary` names.
    func removeReplaced(by head: StoredHead, _ key: CacheKey) {
        let whole = head.name(key)
        let own = [whole, EntryKind.part.name(whole)]
        for name in Set(index.withLock { $0.names(key.name) } + own) {
            guard let stored = open(name)?.head else {
                // For want of descriptors, say, nobody knows how old it is.
                if own.contains(name) { remove(name) }
                continue
            }
            let isVariant = stored.selection != head.selection && VaryRule(stored.fields) == VaryRule(head.fields)
            if !isVariant, stored.requestedAt <= head.requestedAt { remove(name) }
        }
    }

    /// Whether an entry is the one that was found, neither removed nor replaced since.
    private func holds(_ stored: StoredResponse, as name: String) -> Bool {
        switch stored.body {
        case .memory(_, let length):
            let known = index.withLock { $0.content(name) ?? nil }
            return known?.head == stored.head && known?.body.length == length
        case .file(let file, _, _):
            guard let folder, let known = try? OpenFile(reading: folder.path(of: name)) else { return false }
            return known.isSame(as: file)
        }
    }

    /// Puts a new head before the body of an entry, unless others were quicker: what is there now is newer, or unwanted.
    func renew(_ stored: StoredResponse, _ head: StoredHead, _ key: CacheKey) {
        let name = stored.head.name(key)
        guard holds(stored, as: name) else { return }
        let mayBeStored = CacheControl(head.fields).allowsStoring
        if head.name(key) != name || !mayBeStored { remove(name) }
        guard mayBeStored, VaryRule(head.fields).canMatch else { return }
        var draft = EntryDraft(head, key, cache: self)
        var position = 0
        do {
            while let piece = try stored.body.next(&position) { draft.write(piece) }
            draft.finish()
        } catch {
            draft.discard()
        }
    }

    /// Takes in an entry that is written; a whole body takes the place of its beginning.
    func insert(_ name: String, size: Int, _ content: StoredResponse?) {
        let part = EntryKind.part.name(name)
        let removed = index.withLock { index in
            let hadPart = EntryKind(name) == .whole && index.remove(part)
            return (hadPart ? [part] : []) + index.insert(name, size: size, content)
        }
        for name in removed { folder?.remove(name) }
    }

    /// Finds out what the folder has; not on the cache's thread, which would keep requests waiting.
    func scan() {
        guard let folder else { return }
        let files = folder.files
        let now = HTTPDate.now
        for file in files where CacheFolder.isTemporary(file.name) && now - file.usedAt > 3_600 {
            // Of a process that has ended, or been killed.
            folder.remove(file.name)
        }
        let entries = files.filter { EntryKind($0.name) != nil }.sorted { $0.usedAt > $1.usedAt }
        takeInNext(entries[...])
    }

    /// Behind what requests want done by now.
    private func takeInNext(_ files: ArraySlice<CacheFolder.File>) {
        if !files.isEmpty { thread.append { [self] in takeIn(files) } }
    }

    /// So many entries that were found are taken in one after the other; then requests have their turn.
    private static let entriesInTurn = 64

    /// Takes in what the folder had, older than all that is known, unless it is gone by now.
    private func takeIn(_ files: ArraySlice<CacheFolder.File>) {
        guard let folder else { return }
        let entries = files.prefix(Self.entriesInTurn).filter { folder.has($0.name) }
        let removed = index.withLock { index in
            for file in entries { index.insertOldest(file.name, size: file.size, nil) }
            return index.evict()
        }
        for name in removed { folder.remove(name) }
        takeInNext(files.dropFirst(Self.entriesInTurn))
    }
}

extension CacheFolder {
    private static let temporaryPrefix = "new-"

    static func isTemporary(_ name: String) -> Bool { name.hasPrefix(temporaryPrefix) }

    /// A name that nobody else has.
    static func temporaryName() -> String {
        "\(temporaryPrefix)\(getpid())-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
    }
}
