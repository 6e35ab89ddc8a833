import HTTPSemantics
package import HTTPTransport
import HTTPTypes
import Hashing

// Results computed from responses, which are stored beside these and are fresh for as long.
extension ResponseCache {
    private static let propertiesField = HTTPField.Name("webimage-result")!

    /// Returns a fresh result that can be read without waiting for a disk; can be called on any thread.
    ///
    /// `nil` does not mean that there is none.
    package func immediateResult(_ key: ResultKey, policy: CachePolicy) -> StoredResult? {
        guard let immediateStorage, policy != .reload, !isSkipped(key.storageKey),
            let entry = immediateStorage.immediateEntry(key.storageKey)
        else { return nil }
        if entry.needsRecording { thread.append(to: .long) { immediateStorage.recordUses() } }
        let facts = entry.head.body
        guard entry.body.count == facts.length, CRC32C(of: entry.body.span) == facts.checksum else { return nil }
        let stored = StoredResponse(
            key: key.storageKey, head: entry.head.head, body: .bytes(entry.body, facts))
        guard let result = result(stored, entry.body, key, policy), result.isFresh else { return nil }
        uses.record(.hit)
        return result
    }

    /// Returns a stored result, which can be stale; `nil` if there is none that the policy permits to use.
    package func result(_ key: ResultKey, policy: CachePolicy) async -> StoredResult? {
        guard policy != .reload else { return nil }
        return await thread.run(to: .long) { [self] in
            guard let found = open(key.storageKey), let stored = try? readIfShort(found),
                case .bytes(let bytes, _) = stored.body, let result = result(stored, bytes, key, policy)
            else { return nil }
            found.body.markUsed()
            if result.isFresh { uses.record(.hit) }
            return result
        }
    }

    private func result(
        _ stored: StoredResponse, _ bytes: [UInt8], _ key: ResultKey, _ policy: CachePolicy
    ) -> StoredResult? {
        let head = stored.head
        guard head.url == key.resource.url, head.owner == key.resource.owner, head.selection == key.selection,
            !hasExpired(head), let properties = head.fields[Self.propertiesField]
        else { return nil }
        let now = now()
        let asked = CacheControl(key.request.headerFields, isRequest: true)
        let step = policy.step(stored: head, asked: asked, now: now)
        guard step == .serve || step == .validate else { return nil }
        var response = head.response
        response.headerFields[Self.propertiesField] = nil
        response.headerFields[.age] = "\(head.freshness.age(at: now))"
        return StoredResult(
            head: ResponseHead(response: response, url: key.request.url), properties: properties, bytes: bytes,
            source: source, isFresh: step == .serve, stored: stored)
    }

    /// Stores a result computed from a response, unless the response may not be stored; returns when it is stored.
    package func store(
        _ bytes: [UInt8], properties: String, from head: ResponseHead, for key: ResultKey
    ) async {
        let time = now()
        guard
            Storability.allows(
                .get, key.request.headerFields, head.response, redirectCount: head.redirectCount, receivedAt: time),
            bytes.count <= min(configuration.maximumEntryBytes, StoredBody.maximumShortLength)
        else { return }
        let stored = storedHead(Storability.fields(of: head.response), properties, key, at: time)
        await thread.run(to: .long) { [self] in
            var draft = EntryDraft(stored, key.resource, cache: self, length: bytes.count)
            draft.write(bytes)
            draft.finish(as: .result)
        }
    }

    /// Returns a result whose response the origin has confirmed by a 304, and stores the new head later.
    package func confirm(_ result: StoredResult, by head: ResponseHead, for key: ResultKey) -> StoredResult {
        let time = now()
        let fields = Storability.fields(result.stored.head.fields, updatedBy: head.response)
        let update = storedHead(fields, result.properties, key, at: time)
        let stored = StoredResponse(key: result.stored.key, head: update, body: result.stored.body)
        thread.append(to: .long) { [self] in
            // If it has been replaced or removed, there is nothing to do.
            _ = try? storage.replaceHead(stored.key, with: ResponseStorageHead(update.packed, stored.body.facts))
        }
        var response = update.response
        response.headerFields[Self.propertiesField] = nil
        return StoredResult(
            head: ResponseHead(response: response, url: key.request.url), properties: result.properties,
            bytes: result.bytes, source: .revalidated, isFresh: true, stored: stored)
    }

    private func storedHead(_ fields: HTTPFields, _ properties: String, _ key: ResultKey, at time: Int) -> StoredHead {
        var fields = fields
        fields[.contentLength] = nil
        fields[Self.propertiesField] = properties
        return StoredHead(fields, of: key.resource, selection: key.selection, at: time)
    }
}
