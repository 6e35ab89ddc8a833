public import HTTPSemantics
public import HTTPTypes
import HTTPTransport
import Threading

// The stored responses themselves, which are listed in portions, so that requests are not held up.
extension ResponseCache {
    /// A stored response, without its body.
    public struct Entry: Sendable {
        let key: ResponseStorageKey
        let head: StoredHead
        /// The URL of the request, or its `ImageRequest.cacheKey`.
        public var url: String { head.url }
        /// The status and header fields of the response.
        public var response: HTTPResponse { isResult ? head.responseOfResult : head.response }
        /// The time when the response was received or last validated, in seconds since 1970.
        public var receivedAt: Int { head.receivedAt }
        /// The size of the body in bytes.
        public let bodyByteCount: Int
        /// The space that the entry takes in the cache, in bytes.
        public let byteCount: Int
        /// A Boolean value that indicates whether only a part of the body is stored.
        public let isPartial: Bool
        /// A Boolean value that indicates whether the entry is a file made of the response, such as a smaller image.
        public let isResult: Bool
        /// The time for which the response remains fresh, in seconds; 0 or less if it is stale.
        public let freshSeconds: Int
        private let foundAt: Int

        /// A Boolean value that indicates whether the response is complete and can be used without asking the origin.
        public var isFresh: Bool { freshSeconds > 0 && !isPartial }

        /// The freshness of the response at the time when the entry was looked up; determined on every access.
        public var freshness: Freshness {
            Freshness(head.response, requestedAt: head.requestedAt, receivedAt: head.receivedAt, at: foundAt)
        }

        /// Creates the description of a response that is in a storage, at a time in seconds since 1970.
        init?(_ stored: StoredResponse, at now: Int) {
            guard case .entry(let entry?, _) = stored.body else { return nil }
            key = stored.key
            head = stored.head
            bodyByteCount = stored.body.length
            byteCount = entry.byteCount
            isPartial = stored.key.kind == .part
            isResult = stored.key.kind == .result
            freshSeconds = stored.head.freshness.remaining(at: now)
            foundAt = now
        }
    }

    /// Calls `body` with every stored response, in no particular order, until it returns `false`.
    ///
    /// Responses that are stored or removed in the meantime may or may not be included. `body` is called on
    /// the cache's threads; damaged entries are removed without calling it.
    public func forEachEntry(_ body: @escaping @Sendable (Entry) -> Bool) async {
        await forEachEntry(body, onFault: { _ in })
    }

    /// A fault that is found while entries are listed or read.
    package enum Fault: Sendable {
        /// An entry is damaged.
        case damaged
        /// An entry cannot be read.
        case unreadable(any Error)
        /// The entries of a portion cannot be listed.
        case unlisted(any Error)
    }

    /// Calls `body` with every stored response in the same way, and `onFault` for everything that cannot be read.
    ///
    /// The bodies are not read, so that damage to them is not found.
    package func forEachEntry(
        _ body: @escaping @Sendable (Entry) -> Bool, onFault: @escaping @Sendable (Fault) -> Void
    ) async {
        for portion in 0..<storage.portionCount {
            let goesOn = await thread.run(to: .long) { [self] in
                keys(in: portion, onFault).allSatisfy { key in
                    do {
                        return try entry(key).map(body) ?? true
                    } catch {
                        onFault(fault(error, key))
                        return true
                    }
                }
            }
            if !goesOn { return }
        }
    }

    /// Removes the responses for which `isRemoved` returns `true`; returns the number of removed responses.
    ///
    /// Those that cannot be removed are not counted.
    @discardableResult
    public func removeAll(where isRemoved: @escaping @Sendable (Entry) -> Bool) async -> Int {
        await removeAll(where: isRemoved, onFailure: { _ in })
    }

    /// Removes responses in the same way, and calls `onFailure` with the error for each one that cannot be removed.
    @discardableResult
    package func removeAll(
        where isRemoved: @escaping @Sendable (Entry) -> Bool, onFailure: @escaping @Sendable (any Error) -> Void
    ) async -> Int {
        let count = Locked(0)
        await forEachEntry { [self] entry in
            guard isRemoved(entry) else { return true }
            do {
                try removeEntry(entry.key)
                count.withLock { $0 += 1 }
            } catch {
                onFailure(error)
            }
            return true
        }
        return count.withLock { $0 }
    }

    /// Reads all responses, and removes those that are damaged; returns the numbers of intact ones, of damaged ones, and
    /// of those that cannot be read, which remain.
    ///
    /// Throws the error of the storage if it cannot list some of the responses, after reading the others.
    public func verify() async throws -> (intact: Int, damaged: Int, unreadable: Int) {
        let failure = Locked<(any Error)?>(nil)
        let result = await verify { error in failure.withLock { $0 = $0 ?? error } }
        if let failure = failure.withLock({ $0 }) { throw failure }
        return result
    }

    /// Reads all responses in the same way; calls `onFailure` for each portion that cannot be listed.
    package func verify(
        onFailure: @escaping @Sendable (any Error) -> Void
    ) async -> (intact: Int, damaged: Int, unreadable: Int) {
        let result = Locked((intact: 0, damaged: 0, unreadable: 0))
        let onFault = { @Sendable (fault: Fault) in
            switch fault {
            case .damaged: result.withLock { $0.damaged += 1 }
            case .unreadable: result.withLock { $0.unreadable += 1 }
            case .unlisted(let error): onFailure(error)
            }
        }
        for portion in 0..<storage.portionCount {
            await thread.run(to: .long) { [self] in
                for key in keys(in: portion, onFault) {
                    do {
                        guard let stored = try openEntry(key) else { continue }
                        try stored.body.verify()
                        skipped.withLock { $0.remove(key) }
                        result.withLock { $0.intact += 1 }
                    } catch {
                        onFault(fault(error, key))
                    }
                }
            }
        }
        return result.withLock { $0 }
    }

    /// Returns the fault of an entry; a damaged one is removed.
    private func fault(_ error: any Error, _ key: ResponseStorageKey) -> Fault {
        switch error {
        case ResponseStorageError.damaged, StoredBodyError.damaged:
            removeDamaged(key)
            return .damaged
        default: return .unreadable(error)
        }
    }

    private func keys(in portion: Int, _ onFault: (Fault) -> Void) -> [ResponseStorageKey] {
        do {
            return try storage.keys(inPortion: portion)
        } catch {
            onFault(.unlisted(error))
            return []
        }
    }

    /// Returns an entry; throws the error of the storage.
    private func entry(_ key: ResponseStorageKey) throws -> Entry? {
        guard !isSkipped(key), let stored = try openEntry(key) else { return nil }
        return Entry(stored, at: now())
    }
}
