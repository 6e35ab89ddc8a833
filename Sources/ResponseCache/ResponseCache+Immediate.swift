package import HTTPTransport
import Hashing

// Responses for callers that cannot wait for a disk.
extension ResponseCache {
    /// Returns a stored response that answers a request without asking the origin, and its body, if both can be read
    /// without waiting for a disk and `isWanted` returns `true`.
    ///
    /// Unlike the cache's other methods, it can be called on any thread. `nil` does not mean that no stored response
    /// answers the request.
    package func immediateResponse(
        to request: TransportRequest, policy: CachePolicy, where isWanted: (ResponseHead) -> Bool
    ) -> (reply: StoredReply, body: [UInt8])? {
        guard let immediateStorage, let lookup = CacheLookup(request, in: self, policy: policy), lookup.isNeeded,
            !request.isRangeContinuation
        else { return nil }
        let name = StoredHead.plainName(lookup.key.name)
        guard !isSkipped(name), let entry = immediateStorage.immediateEntry(ResponseStorageKey(name: name)) else {
            return nil
        }
        if entry.needsRecording { thread.append(to: .long) { immediateStorage.recordUses() } }
        let (head, facts) = (entry.head.head, entry.head.body)
        let stored = StoredResponse(name: name, head: head, body: .loaded(entry.body, facts))
        guard head.answers(lookup.key, request.headerFields), !hasExpired(head), lookup.serves(stored),
            entry.body.count <= request.maximumBodyBytes, entry.body.count == facts.length,
            CRC32C(of: entry.body.span) == facts.checksum
        else { return nil }
        let reply = lookup.aged(stored)
        guard isWanted(reply.head) else { return nil }
        uses.record(.hit)
        return (reply, entry.body)
    }
}
