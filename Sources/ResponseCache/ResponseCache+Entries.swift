import HTTPSemantics
public import HTTPTypes
import HTTPTransport
import Threading

// The stored responses themselves, which are listed in portions, so that requests are not held up.
extension ResponseCache {
    /// A stored response, without its body.
    public struct Entry: Sendable {
        /// The name of the entry.
        let name: String
        let head: StoredHead
        /// The URL of the request, or its `ImageRequest.cacheKey`.
        public var url: String { head.url }
        /// The status and header fields of the response.
        public var response: HTTPResponse { head.response }
        /// The time when the response was received or last validated, in seconds since 1970.
        public var receivedAt: Int { head.receivedAt }
        /// The size of the body in bytes.
        public let bodyByteCount: Int
        /// The space that the entry takes in the cache, in bytes.
        public let byteCount: Int
        /// A Boolean value that indicates whether only a part of the body is stored.
        public let isPartial: Bool
        /// The time for which the response remains fresh, in seconds; 0 or less if it is stale.
        public let freshSeconds: Int

        /// A Boolean value that indicates whether the response is complete and can be used without asking the origin.
        public var isFresh: Bool { freshSeconds > 0 && !isPartial }
    }

    /// Calls `body` with every stored response, in no particular order, until it returns `false`.
    ///
    /// Responses that are stored or removed in the meantime may or may not be included; decoded images never are. `body`
    /// is called on the cache's threads; damaged entries are removed without calling it.
    public func forEachEntry(_ body: @escaping @Sendable (Entry) -> Bool) async {
        for portion in 0..<storage.portionCount {
            let goesOn = await thread.run(to: .long) { [self] in
                names(in: portion).allSatisfy { name in entry(name).map(body) ?? true }
            }
            if !goesOn { return }
        }
    }

    /// Removes the responses for which `isRemoved` returns `true`, with their decoded images; returns the number of
    /// removed responses.
    ///
    /// Those that cannot be removed are not counted.
    @discardableResult
    public func removeAll(where isRemoved: @escaping @Sendable (Entry) -> Bool) async -> Int {
        let count = Locked(0)
        await forEachEntry { [self] entry in
            if isRemoved(entry), remove(entry.name) { count.withLock { $0 += 1 } }
            return true
        }
        let removed = count.withLock { $0 }
        if removed > 0 { await removeImagesWithoutSource() }
        return removed
    }

    /// Reads all responses and decoded images, and removes those that are damaged; returns the numbers of intact ones,
    /// of damaged ones, and of those that cannot be read, which remain.
    ///
    /// Throws the error of the storage if it cannot list the responses.
    public func verify() async throws -> (intact: Int, damaged: Int, unreadable: Int) {
        var result = (intact: 0, damaged: 0, unreadable: 0)
        for portion in 0..<storage.portionCount {
            let conditions = await thread.run(to: .long) { [self] in
                Result { try storage.keys(inPortion: portion).compactMap { condition(of: $0.name) } }
            }
            for condition in try conditions.get() {
                switch condition {
                case .intact: result.intact += 1
                case .damaged: result.damaged += 1
                case .unreadable: result.unreadable += 1
                }
            }
        }
        return result
    }

    private enum Condition {
        case intact
        case damaged
        case unreadable
    }

    /// Reads an entry, and removes it if it is damaged; returns `nil` if there is none.
    private func condition(of name: String) -> Condition? {
        do {
            guard let stored = try openEntry(name) else { return nil }
            try stored.body.verify()
            skipped.withLock { $0.remove(name) }
            return .intact
        } catch ResponseStorageError.damaged, StoredBodyError.damaged {
            removeDamaged(name)
            return .damaged
        } catch {
            return .unreadable
        }
    }

    func names(in portion: Int) -> [String] {
        ((try? storage.keys(inPortion: portion)) ?? []).map(\.name)
    }

    private func entry(_ name: String) -> Entry? {
        guard let stored = open(name), let kind = EntryKind(name), kind != .image,
            case .entry(let entry?, _) = stored.body
        else {
            return nil
        }
        return Entry(
            name: name, head: stored.head, bodyByteCount: stored.body.length, byteCount: entry.byteCount,
            isPartial: kind != .whole, freshSeconds: stored.head.freshness.remaining(at: now()))
    }
}
