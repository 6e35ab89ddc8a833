import Threading

// Opening and removing stored responses; on the cache's threads.
extension ResponseCache {
    /// Returns whether a response is older than the configuration allows.
    func hasExpired(_ head: StoredHead) -> Bool {
        configuration.maximumAge.map { now() - head.receivedAt >= $0 } ?? false
    }

    /// Returns the keys of all entries of a resource, the newest first; some of them may not exist.
    func keys(of resource: String) -> [ResponseStorageKey] { (try? storage.keys(ofResource: resource)) ?? [] }

    /// Opens an entry, unless it is skipped; removes it if its head is damaged.
    ///
    /// Returns `nil` as well if it cannot be opened. If file descriptors have run out, for example, it still exists.
    func open(_ key: ResponseStorageKey) -> StoredResponse? { try? openIntact(key) }

    /// Opens an entry in the same way, but throws the error of the storage if it cannot be opened.
    func openIntact(_ key: ResponseStorageKey) throws -> StoredResponse? {
        guard !isSkipped(key) else { return nil }
        do {
            return try openEntry(key)
        } catch ResponseStorageError.damaged {
            removeDamaged(key)
            return nil
        }
    }

    /// Opens an entry; throws the error of the storage.
    func openEntry(_ key: ResponseStorageKey) throws -> StoredResponse? {
        try storage.entry(key).map { entry in
            let head = entry.head
            return StoredResponse(key: key, head: head.head, body: .entry(entry, head.body))
        }
    }

    /// Returns an entry that was found before, opened again; `nil` if it has been removed or replaced.
    func reopen(_ stored: StoredResponse) -> StoredResponse? {
        guard let found = open(stored.key), found.body.facts == stored.body.facts else { return nil }
        return StoredResponse(key: stored.key, head: stored.head, body: found.body)
    }

    /// Returns a response whose body, if it is short, has been read and verified; a damaged one is removed.
    func readIfShort(_ stored: StoredResponse) throws(StoredBodyError) -> StoredResponse {
        guard case .entry(.some, let facts) = stored.body, stored.body.isShort else { return stored }
        var reader = StoredBodyReader(stored.body)
        do throws(StoredBodyError) {
            return StoredResponse(key: stored.key, head: stored.head, body: .bytes(try reader.next() ?? [], facts))
        } catch {
            removeDamaged(stored, after: error)
            throw error
        }
    }

    // MARK: Removing

    /// Removes an entry; returns whether that succeeded.
    @discardableResult
    func remove(_ key: ResponseStorageKey) -> Bool { (try? removeEntry(key)) != nil }

    /// Removes an entry; throws the error of the storage.
    func removeEntry(_ key: ResponseStorageKey) throws {
        try storage.remove(key)
        skipped.withLock { $0.remove(key) }
    }

    /// Removes all entries of a resource.
    func removeEntries(of resource: String) {
        for key in keys(of: resource) { remove(key) }
    }

    /// Removes an entry that has been neither removed nor replaced since it was found.
    func removeIfUnchanged(_ stored: StoredResponse) {
        if reopen(stored) != nil { remove(stored.key) }
    }

    /// Removes an entry whose body is damaged, unless it has been replaced; one that cannot be read remains.
    func removeDamaged(_ stored: StoredResponse, after error: StoredBodyError) {
        if error == .damaged, reopen(stored) != nil { removeDamaged(stored.key) }
    }

    /// Removes a damaged entry, or skips it if it cannot be removed.
    func removeDamaged(_ key: ResponseStorageKey) {
        if !remove(key) { skip(key) }
    }

    /// Treats an entry as missing for some time, or until it is replaced.
    func skip(_ key: ResponseStorageKey) { skipped.withLock { $0.insert(key, at: now()) } }

    func isSkipped(_ key: ResponseStorageKey) -> Bool {
        skipped.withLock { !$0.isEmpty && $0.contains(key, at: now()) }
    }
}
