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
        guard let immediateStorage, let request = CacheRequest(request, policy: policy),
            request.usesStoredResponses, !request.transportRequest.isRangeContinuation
        else { return nil }
        let key = request.resource.plainKey
        guard !isSkipped(key), let entry = immediateStorage.immediateEntry(key) else { return nil }
        if entry.needsRecording { thread.append(to: .long) { immediateStorage.recordUses() } }
        let (head, facts) = (entry.head.head, entry.head.body)
        let stored = StoredResponse(key: key, head: head, body: .bytes(entry.body, facts))
        guard head.answers(request.resource, request.transportRequest.headerFields), !hasExpired(head),
            request.serves(stored, at: now()), entry.body.count <= request.transportRequest.maximumBodyBytes,
            entry.body.count == facts.length, CRC32C(of: entry.body.span) == facts.checksum
        else { return nil }
        let reply = request.reply(stored, from: source, at: now())
        guard isWanted(reply.head) else { return nil }
        uses.record(.hit)
        return (reply, entry.body)
    }
}
