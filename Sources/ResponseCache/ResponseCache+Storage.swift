import HTTPSemantics
package import HTTPTransport
import HTTPTypes
import Threading

// Work on the cache's threads.
extension ResponseCache {
    /// Returns the most recent stored response of a kind for a request (RFC 9111, section 4); `nil` if there is none,
    /// or its head is damaged.
    package func find(
        _ kind: EntryKind, _ request: TransportRequest, _ key: CacheKey,
        where isUsable: (StoredResponse) -> Bool = { _ in true }
    ) -> StoredResponse? {
        func suitable(_ name: String) -> StoredResponse? {
            guard let stored = open(name), stored.head.answers(key, request.headerFields), isUsable(stored),
                !hasExpired(stored.head)
            else { return nil }
            return stored
        }
        // Most responses that are found have this name; none is stored beside it, see `removeOutdated`.
        let plain = kind == .whole ? StoredHead.plainName(key.name) : nil
        var found = plain.flatMap { suitable($0) }
        if found == nil {
            for name in names(key) where EntryKind(name) == kind && name != plain {
                guard let other = suitable(name) else { continue }
                // Of equally recent ones, the first in the list was stored last.
                if let best = found, !other.head.isMoreRecent(than: best.head, at: now()) { continue }
                found = other
            }
        }
        found?.body.markUsed()
        return found
    }

    /// Returns whether a response is older than the configuration allows.
    func hasExpired(_ head: StoredHead) -> Bool {
        configuration.maximumAge.map { now() - head.receivedAt >= $0 } ?? false
    }

    /// Opens an entry by its name, unless it is skipped; removes it if its head is damaged.
    ///
    /// Returns `nil` as well if it cannot be opened. If file descriptors have run out, for example, it still exists.
    func open(_ name: String) -> StoredResponse? { try? openIntact(name) }

    /// Opens an entry in the same way, but throws the error of the storage if it cannot be opened.
    private func openIntact(_ name: String) throws -> StoredResponse? {
        guard EntryKind(name) != nil, !isSkipped(name) else { return nil }
        do {
            return try openEntry(name)
        } catch ResponseStorageError.damaged {
            removeDamaged(name)
            return nil
        }
    }

    /// Opens an entry by its name; throws the error of the storage.
    func openEntry(_ name: String) throws -> StoredResponse? {
        try storage.entry(ResponseStorageKey(name: name)).map { entry in
            let head = entry.head
            return StoredResponse(name: name, head: head.head, body: .entry(entry, head.body))
        }
    }

    /// Returns a response whose short body has been read and verified; a damaged one is removed.
    func load(_ stored: StoredResponse) throws(StoredBodyError) -> StoredResponse {
        guard case .entry(.some, let facts) = stored.body, stored.body.isShort else { return stored }
        var reader = StoredBodyReader(stored.body)
        do throws(StoredBodyError) {
            return StoredResponse(name: stored.name, head: stored.head, body: .loaded(try reader.next() ?? [], facts))
        } catch {
            removeDamaged(stored, after: error)
            throw error
        }
    }

    /// Removes an entry; returns whether that succeeded.
    @discardableResult
    func remove(_ name: String) -> Bool { (try? removeEntry(name)) != nil }

    /// Removes an entry; throws the error of the storage.
    func removeEntry(_ name: String) throws {
        try storage.remove(ResponseStorageKey(name: name))
        skipped.withLock { $0.remove(name) }
    }

    /// Removes an entry whose body is damaged, unless it has been replaced; one that cannot be read remains.
    func removeDamaged(_ stored: StoredResponse, after error: StoredBodyError) {
        if error == .damaged, reopen(stored) != nil { removeDamaged(stored.name) }
    }

    /// Removes a damaged entry, or skips it if it cannot be removed.
    func removeDamaged(_ name: String) {
        if !remove(name) { skip(name) }
    }

    /// Treats an entry as missing for some time, or until it is replaced.
    func skip(_ name: String) { skipped.withLock { $0.insert(name, at: now()) } }

    func isSkipped(_ name: String) -> Bool {
        skipped.withLock { !$0.isEmpty && $0.contains(name, at: now()) }
    }

    /// Returns the names of all entries of a key, the newest first; some of them may not exist.
    func names(_ key: CacheKey) -> [String] {
        ((try? storage.keys(ofResource: key.name)) ?? []).map(\.name)
    }

    func removeEntries(_ key: CacheKey) {
        for name in names(key) { remove(name) }
    }

    /// Removes the entries that a response that cannot be stored would have replaced.
    ///
    /// Keeps responses requested later, and responses to requests that differ by `Vary`.
    func removeReplaced(by head: StoredHead, _ key: CacheKey) {
        let whole = head.name(key)
        let own = [whole, EntryKind.part.name(whole)]
        for name in Set(names(key) + own) {
            guard let stored = open(name)?.head else {
                // If file descriptors have run out, for example, its age is unknown.
                if own.contains(name) { remove(name) }
                continue
            }
            let isVariant = stored.selection != head.selection && VaryRule(stored.fields) == VaryRule(head.fields)
            if !isVariant, !isNewer(stored, than: head) { remove(name) }
        }
    }

    /// Returns an entry that was found before, opened again; `nil` if it has been removed or replaced.
    func reopen(_ stored: StoredResponse) -> StoredResponse? {
        guard let found = open(stored.name), found.body.facts == stored.body.facts else { return nil }
        return StoredResponse(name: stored.name, head: stored.head, body: found.body)
    }

    /// Updates the head of an entry, unless it has been changed in the meantime.
    ///
    /// Its body is not written again, unless the entry gets another name. Returns the entry by its new name, or as it
    /// was.
    func renew(_ stored: StoredResponse, _ head: StoredHead, _ key: CacheKey) -> StoredResponse {
        guard CacheControl(head.fields).allowsStoring(head.status), VaryRule(head.fields).canMatch else {
            removeIfUnchanged(stored)
            return stored
        }
        guard head.name(key) == stored.name else { return copy(stored, head, key) ?? stored }
        do {
            let update = ResponseStorageHead(head, stored.body.facts)
            let isUpdated = try storage.replaceHead(ResponseStorageKey(name: stored.name), with: update)
            return isUpdated ? StoredResponse(name: stored.name, head: head, body: stored.body) : stored
        } catch {
            note(error)
            return stored
        }
    }

    /// Replaces an entry by one with another name, because the fields named by `Vary` have changed.
    private func copy(_ stored: StoredResponse, _ head: StoredHead, _ key: CacheKey) -> StoredResponse? {
        var draft = EntryDraft(head, key, cache: self, length: stored.body.length)
        draft.write(stored)
        draft.finish()
        guard let copy = open(head.name(key)), copy.head == head else { return nil }
        removeIfUnchanged(stored)
        return copy
    }

    /// Removes an entry that has been neither removed nor replaced since it was found.
    func removeIfUnchanged(_ stored: StoredResponse) {
        if reopen(stored) != nil { remove(stored.name) }
    }

    // MARK: New entries

    /// The maximum number of entries of one key that differ by `Vary`.
    static let maximumVariants = 8

    /// Returns whether a stored response was requested after another one.
    ///
    /// A time in the future does not count: the clock has been set back, and nothing could replace the response.
    func isNewer(_ stored: StoredHead, than head: StoredHead) -> Bool {
        stored.requestedAt > head.requestedAt && stored.requestedAt <= now()
    }

    /// Completes the insertion of an entry with a head, which takes about `size` bytes: removes those that it replaces,
    /// and others if a limit is exceeded.
    func didInsert(_ name: String, _ head: ResponseStorageHead, _ key: CacheKey, size: Int) {
        skipped.withLock { $0.remove(name) }
        let kind = EntryKind(name)
        if kind == .whole {
            // A complete response replaces the stored beginning of its body.
            remove(EntryKind.part.name(name))
            removeOutdated(name, head, key)
        }
        if !StoredHead.isPlain(EntryKind.wholeName(of: name)) { removeSurplusVariants(key) }
        enforceLimit(after: size)
    }

    /// Compares a new response without `Vary` with those with `Vary`, or the other way round: removes the earlier ones
    /// and the beginnings of their bodies, or the new one if another one is newer.
    ///
    /// So if there is a response without `Vary`, it is the only one of its key, and need not be compared with others
    /// when it is found. The comparison follows the insertion: if two processes insert responses at the same time, the
    /// second one finds the first. If it is unknown which response is newer, both are removed: none can be used.
    private func removeOutdated(_ name: String, _ head: ResponseStorageHead, _ key: CacheKey) {
        let plain = StoredHead.plainName(key.name)
        let others = name == plain ? variantNames(key) : [plain]
        let orders = others.map { order(of: $0, to: head) }
        if orders.contains(where: { $0 != .earlier }) { remove(name) }
        if orders.contains(.later) { return }
        for whole in others {
            for other in [whole, EntryKind.part.name(whole)] where order(of: other, to: head) != .later {
                remove(other)
            }
        }
    }

    private enum Order {
        case earlier
        case later
        /// The entry cannot be opened for the moment.
        case unknown
    }

    /// Returns the order of an entry and a new response, by their requests; one that is missing, or cannot be used,
    /// counts as earlier.
    ///
    /// Of two with requests of the same second, the one that was stored later is later: if both are new, and each is
    /// compared with the other, one remains.
    private func order(of name: String, to new: ResponseStorageHead) -> Order {
        do {
            guard let stored = try openIntact(name) else { return .earlier }
            guard stored.head.requestedAt != new.head.requestedAt else {
                return stored.body.facts.identity > new.body.identity ? .later : .earlier
            }
            return isNewer(stored.head, than: new.head) ? .later : .earlier
        } catch {
            return error.forStorage == .unavailable ? .unknown : .earlier
        }
    }

    /// Returns the names of complete responses that differ by `Vary`, newest first; some of them may not exist.
    private func variantNames(_ key: CacheKey) -> [String] {
        var names: [String] = []
        for name in self.names(key).map(EntryKind.wholeName)
        where !StoredHead.isPlain(name) && !names.contains(name) {
            names.append(name)
        }
        return names
    }

    private func removeSurplusVariants(_ key: CacheKey) {
        let names = variantNames(key)
        guard names.count > Self.maximumVariants else { return }
        for name in names.dropFirst(Self.maximumVariants).flatMap(EntryKind.names) { remove(name) }
    }

    /// Runs `write`, which needs `count` bytes; if the storage is full, removes other entries and runs it again.
    ///
    /// Removes no more than the entry that is written may cost the others, and nothing if that is too little.
    func writing<Result>(_ count: Int, _ room: inout EntryRoom, _ write: () throws -> Result) throws -> Result {
        var attempts = 0
        while true {
            do {
                return try write()
            } catch {
                attempts += 1
                guard error.forStorage == .full, attempts <= 3 else {
                    note(error)
                    throw error
                }
                let size = storage.byteCount
                // Directories and other processes need some space as well.
                let excess = room.take(max(4 * count, 64 << 10) << attempts, for: count, of: size)
                guard excess > 0 else {
                    note(error)
                    throw error
                }
                trimStorage(to: max(0, size - excess))
            }
        }
    }

    /// Removes the least recently used entries until the others take at most `maximumBytes` bytes.
    func trimStorage(to maximumBytes: Int) {
        uses.record(.eviction, count: (try? storage.trim(to: maximumBytes)) ?? 0)
    }

    /// Removes the least recently used entries if the limit is exceeded, which is checked for the first new entry, and
    /// then each time 1/256 of the limit has been added.
    ///
    /// The thread that has stored an entry removes others, so that none is stored faster than room is made.
    func enforceLimit(after size: Int) {
        let isDue = limitCheck.withLock { remainingBytes in
            remainingBytes -= size
            guard remainingBytes < 0 else { return false }
            remainingBytes = configuration.maximumBytes / 256
            return true
        }
        if isDue { enforceLimit() }
    }

    /// Removes the least recently used entries if the limit is exceeded.
    func enforceLimit() { trimStorage(to: configuration.maximumBytes) }

    /// Records and reports why responses cannot be stored, unless that is only for the moment.
    func note(_ failure: any Error) {
        if failure.forStorage == .unavailable { return }
        let report = storageFailure.withLock { state -> (@Sendable (any Error) -> Void)? in
            guard state.failure == nil else { return nil }
            state.failure = failure
            state.isReported = state.report != nil
            return state.report
        }
        report?(failure)
    }
}

/// The first error that prevented storing a response, and the closure that reports it.
struct StorageFailure: Sendable {
    var failure: (any Error)?
    var report: (@Sendable (any Error) -> Void)?
    var isReported = false
}
