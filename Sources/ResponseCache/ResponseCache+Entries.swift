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

        /// A Boolean value that indicates whether the response can be used without asking the origin.
        public var isFresh: Bool { freshSeconds > 0 && !isPartial }
    }

    /// Calls `body` with every stored response, in no particular order, until it returns `false`.
    ///
    /// Responses that are stored or removed in the meantime may be included or not. `body` is called on the cache's
    /// threads; damaged entries are removed without calling it.
    public func forEachEntry(_ body: @escaping @Sendable (Entry) -> Bool) async {
        for portion in 0..<storage.portionCount {
            let goesOn = await thread.run(to: .long) { [self] in
                names(in: portion).allSatisfy { name in entry(name).map(body) ?? true }
            }
            if !goesOn { return }
        }
    }

    /// Removes the responses for which `isRemoved` returns `true`, and returns their number.
    @discardableResult
    public func removeAll(where isRemoved: @escaping @Sendable (Entry) -> Bool) async -> Int {
        let count = Locked(0)
        await forEachEntry { [self] entry in
            if isRemoved(entry) {
                remove(entry.name)
                count.withLock { $0 += 1 }
            }
            return true
        }
        return count.withLock { $0 }
    }

    /// Reads all responses and removes those that are damaged; returns the numbers of intact and of damaged responses.
    public func verify() async -> (intact: Int, damaged: Int) {
        let result = Locked((intact: 0, damaged: 0))
        for portion in 0..<storage.portionCount {
            await thread.run(to: .long) { [self] in
                for name in names(in: portion) {
                    let isIntact = open(name)?.body.isIntact ?? false
                    if !isIntact { removeDamaged(name) }
                    result.withLock { if isIntact { $0.intact += 1 } else { $0.damaged += 1 } }
                }
            }
        }
        return result.withLock { $0 }
    }

    private func names(in portion: Int) -> [String] {
        ((try? storage.keys(inPortion: portion)) ?? []).map(\.name)
    }

    private func entry(_ name: String) -> Entry? {
        guard let stored = open(name), let kind = EntryKind(name), case .entry(let entry?, _) = stored.body else {
            return nil
        }
        return Entry(
            name: name, head: stored.head, bodyByteCount: stored.body.length, byteCount: entry.byteCount,
            isPartial: kind != .whole, freshSeconds: stored.head.freshness.remaining(at: now()))
    }
}
