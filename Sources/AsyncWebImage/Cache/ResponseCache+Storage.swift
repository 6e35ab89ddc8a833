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
    /// What is stored for a request; nil if there is nothing, or nothing whole.
    func find(_ request: TransportRequest) -> StoredResponse? {
        let key = CacheKey(request)
        var names = index.withLock { $0.names(key.name) }
        // Another process may have stored it, or the folder was not looked through yet.
        let plain = StoredHead.plainName(key)
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
        guard let file = try? OpenFile(reading: folder.path(of: name)) else {
            index.withLock { _ = $0.remove(name) }
            return nil
        }
        guard let (head, body) = EntryFile.read(file) else {
            remove(name)
            return nil
        }
        return StoredResponse(head: head, body: body)
    }

    func remove(_ name: String) {
        index.withLock { _ = $0.remove(name) }
        folder?.remove(name)
    }

    func removeEntries(_ key: CacheKey) {
        for name in index.withLock({ $0.names(key.name) }) + [StoredHead.plainName(key)] { remove(name) }
    }

    /// Puts a new head before the body of an entry.
    func renew(_ stored: StoredResponse, _ head: StoredHead, _ key: CacheKey) {
        let name = stored.head.name(key)
        if head.name(key) != name || CacheControl(head.fields).noStore { remove(name) }
        guard !CacheControl(head.fields).noStore, VaryRule(head.fields).canMatch else { return }
        let writer = EntryWriter(head, key, cache: self)
        var position = 0
        do {
            while let piece = try stored.body.next(&position) { writer.write([piece]) }
            writer.finish()
        } catch {
            writer.discard()
        }
    }

    /// Takes in an entry that is written.
    func insert(_ name: String, size: Int, _ content: StoredResponse?) {
        let removed = index.withLock { $0.insert(name, size: size, content) }
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
        let entries = files.filter { CacheFolder.isEntry($0.name) }.sorted { $0.usedAt > $1.usedAt }
        let removed = index.withLock { index in
            for file in entries { index.insertOldest(file.name, size: file.size, nil) }
            return index.evict()
        }
        for name in removed { folder.remove(name) }
    }
}

extension CacheFolder {
    private static let temporaryPrefix = "new-"

    /// Whether it is the name of an entry: 32 digits and 16 more.
    static func isEntry(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && parts[0].utf8.count == 32 && parts[1].utf8.count == 16
            && parts.allSatisfy { $0.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) } }
    }

    static func isTemporary(_ name: String) -> Bool { name.hasPrefix(temporaryPrefix) }

    /// A name that nobody else has.
    static func temporaryName() -> String {
        "\(temporaryPrefix)\(getpid())-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
    }
}
