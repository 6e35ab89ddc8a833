import HTTPSemantics
import Threading

// Replacing stored responses by newer ones; on the cache's threads.
extension ResponseCache {
    /// Replaces the head of an entry, unless it has been changed in the meantime.
    ///
    /// Its body is not written again, unless the entry gets another key. Returns the entry by its new key, or as it was.
    func update(_ stored: StoredResponse, to head: StoredHead, _ resource: CachedResource) -> StoredResponse {
        guard CacheControl(head.fields).allowsStoring(head.status), VaryRule(head.fields).canMatch else {
            removeIfUnchanged(stored)
            return stored
        }
        guard head.key(resource) == stored.key else { return copy(stored, head, resource) ?? stored }
        return replaceHead(of: stored, with: head, resource) ?? stored
    }

    /// Replaces the head of an entry, or the whole entry if there is no room for a longer head; returns `nil` if the entry
    /// has been changed in the meantime.
    func replaceHead(
        of stored: StoredResponse, with head: StoredHead, _ resource: CachedResource
    ) -> StoredResponse? {
        do {
            let update = ResponseStorageHead(head, stored.body.facts)
            if try storage.replaceHead(stored.key, with: update) {
                return StoredResponse(key: stored.key, head: head, body: stored.body)
            }
        } catch {
            note(error)
            return nil
        }
        guard let current = open(stored.key), current.body.facts == stored.body.facts, head.updates(current.head) else {
            return nil
        }
        let copy = copy(current, head, resource)
        // The old head may say that the response is still fresh.
        if copy == nil { removeIfUnchanged(current) }
        return copy
    }

    /// Replaces an entry by one with another head, because the fields named by `Vary` have changed, or because the head has
    /// become longer.
    private func copy(_ stored: StoredResponse, _ head: StoredHead, _ resource: CachedResource) -> StoredResponse? {
        var draft = EntryDraft(head, resource, cache: self, length: stored.body.length)
        draft.write(stored)
        draft.finish(as: stored.key.kind)
        guard let copy = open(head.key(resource, stored.key.kind)), copy.head == head else { return nil }
        if copy.key != stored.key { removeIfUnchanged(stored) }
        return copy
    }

    /// Removes the entries that a response that cannot be stored would have replaced.
    ///
    /// Keeps responses requested later, responses to requests that differ by `Vary`, and results of the same version.
    func removeReplaced(by head: StoredHead, _ resource: CachedResource) {
        let own = [EntryKind.whole, .part].map { head.key(resource, $0) }
        for key in Set(keys(of: resource.hash) + own) {
            guard let stored = open(key)?.head else {
                // If file descriptors have run out, for example, its age is unknown.
                if own.contains(key) { remove(key) }
                continue
            }
            let isVariant =
                key.kind != .result && stored.selection != head.selection
                && VaryRule(stored.fields) == VaryRule(head.fields)
            let isCurrentResult = key.kind == .result && stored.hasVersion(of: head) == true
            if !isVariant, !isCurrentResult, !isNewer(stored, than: head) { remove(key) }
        }
    }

    /// Returns whether a stored response was requested after another one.
    ///
    /// A time in the future does not count: the clock has been set back, and nothing could replace the response.
    func isNewer(_ stored: StoredHead, than head: StoredHead) -> Bool {
        stored.requestedAt > head.requestedAt && stored.requestedAt <= now()
    }

    // MARK: New entries

    /// The maximum number of entries of one resource that differ by `Vary`.
    static let maximumVariants = 8
    /// The maximum number of results computed from one resource.
    static let maximumResults = 48

    /// Completes the insertion of an entry with a head, which takes about `size` bytes: removes those that it replaces,
    /// and others if a limit is exceeded.
    func didInsert(_ key: ResponseStorageKey, _ head: ResponseStorageHead, size: Int) {
        skipped.withLock { $0.remove(key) }
        if key.kind == .whole {
            // A complete response replaces the stored beginning of its body.
            remove(key.with(.part))
            removeOutdated(key, head)
            removeResults(of: key.resource, before: head.head)
        }
        if key.isListed { removeSurplus(of: key.resource) }
        enforceLimit(after: size)
    }

    /// Compares a new response without `Vary` with those with `Vary`, or the other way round: removes the earlier ones
    /// and the beginnings of their bodies, or the new one if another one is newer.
    ///
    /// So if there is a response without `Vary`, it is the only one of its resource, and need not be compared with
    /// others when it is found. The comparison follows the insertion: if two processes insert responses at the same
    /// time, the second one finds the first. If it is unknown which response is newer, both are removed: none can be
    /// used.
    private func removeOutdated(_ key: ResponseStorageKey, _ head: ResponseStorageHead) {
        let others = key.isVariant ? [ResponseStorageKey(resource: key.resource)] : variants(of: key.resource)
        let orders = others.map { order(of: $0, to: head) }
        if orders.contains(where: { $0 != .earlier }) { remove(key) }
        if orders.contains(.later) { return }
        for other in others.flatMap({ [$0, $0.with(.part)] }) where order(of: other, to: head) != .later {
            remove(other)
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
    private func order(of key: ResponseStorageKey, to new: ResponseStorageHead) -> Order {
        do {
            guard let stored = try openIntact(key) else { return .earlier }
            guard stored.head.requestedAt != new.head.requestedAt else {
                return stored.body.facts.identity > new.body.identity ? .later : .earlier
            }
            return isNewer(stored.head, than: new.head) ? .later : .earlier
        } catch {
            return error.forStorage == .unavailable ? .unknown : .earlier
        }
    }

    /// Returns the keys of complete responses that differ by `Vary`, newest first; some of them may not exist.
    private func variants(of resource: String) -> [ResponseStorageKey] {
        var variants: [ResponseStorageKey] = []
        for key in keys(of: resource) where key.isVariant && !variants.contains(key.with(.whole)) {
            variants.append(key.with(.whole))
        }
        return variants
    }

    /// Returns the keys of the results computed from a resource, newest first; some of them may not exist.
    private func results(of resource: String) -> [ResponseStorageKey] {
        keys(of: resource).filter { $0.kind == .result }
    }

    /// Removes the results computed before the request of a new response was sent, or in the same second from another
    /// version.
    private func removeResults(of resource: String, before head: StoredHead) {
        for key in results(of: resource) {
            guard let result = open(key)?.head, !isNewer(result, than: head) else { continue }
            if result.requestedAt != head.requestedAt || result.hasVersion(of: head) == false { remove(key) }
        }
    }

    private func removeSurplus(of resource: String) {
        for key in variants(of: resource).dropFirst(Self.maximumVariants) {
            remove(key)
            remove(key.with(.part))
        }
        for key in results(of: resource).dropFirst(Self.maximumResults) { remove(key) }
    }
}
