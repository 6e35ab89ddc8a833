import HTTPSemantics
package import HTTPTransport
import HTTPTypes
import Hashing

// Results computed from responses, which are stored beside these and are fresh for as long.
extension ResponseCache {
    /// Returns a fresh result that can be read without waiting for a disk; can be called on any thread.
    ///
    /// `nil` does not mean that there is none.
    package func immediateResult(_ key: ResultKey, policy: CachePolicy) -> StoredResult? {
        guard let immediateStorage, !isSkipped(key.storageKey),
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

    /// Calls `then` with a stored result, on a thread of the cache; with `nil` if there is none that the policy permits
    /// to use.
    ///
    /// The result can be stale, unless the response itself can be used: because it is fresh, or may be used stale.
    package func lookUp(
        _ key: ResultKey, policy: CachePolicy, then: @escaping @Sendable (StoredResult?) -> Void
    ) {
        thread.append(to: .long) { [self] in then(result(key, policy)) }
    }

    private func result(_ key: ResultKey, _ policy: CachePolicy) -> StoredResult? {
        guard let found = open(key.storageKey), let stored = try? readIfShort(found),
            case .bytes(let bytes, _) = stored.body, let result = result(stored, bytes, key, policy)
        else { return nil }
        found.body.markUsed()
        guard !result.isFresh else {
            uses.record(.hit)
            return result
        }
        let directives = found.head.freshness.directives
        let whole = find(.whole, key.request, key.resource)
        guard directives.staleIfError == nil, directives.staleWhileRevalidate == nil,
            whole?.head.freshness.isFresh(at: now()) != true
        else { return nil }
        return result
    }

    private func result(
        _ stored: StoredResponse, _ bytes: [UInt8], _ key: ResultKey, _ policy: CachePolicy
    ) -> StoredResult? {
        let head = stored.head
        guard head.url == key.resource.url, head.owner == key.resource.owner, head.selection == key.selection,
            !hasExpired(head), let properties = head.propertiesOfResult
        else { return nil }
        let now = now()
        let asked = CacheControl(key.request.headerFields, isRequest: true)
        let step = policy.step(stored: head, asked: asked, now: now)
        guard step == .serve || step == .validate else { return nil }
        var response = head.responseOfResult
        response.headerFields[.age] = "\(head.freshness.age(at: now))"
        return StoredResult(
            head: ResponseHead(response: response, url: key.request.url), properties: properties, bytes: bytes,
            source: source, isFresh: step == .serve, key: key, stored: stored)
    }

    /// Stores a result computed from a response, unless the response may not be stored, or there is a newer one; returns
    /// when it is stored.
    package func store(
        _ bytes: [UInt8], properties: String, from head: ResponseHead, for key: ResultKey
    ) async {
        let (fields, requestedAt, receivedAt) = origin(of: head)
        guard head.status == .ok,
            Storability.allows(
                .get, key.request.headerFields, head.response, redirectCount: head.redirectCount,
                receivedAt: receivedAt),
            bytes.count <= min(configuration.maximumEntryBytes, StoredBody.maximumShortLength)
        else { return }
        let stored = storedHead(fields, properties, key, requestedAt: requestedAt, receivedAt: receivedAt)
        await thread.run(to: .long) { [self] in
            if let whole = find(.whole, key.request, key.resource)?.head {
                guard whole.requestedAt <= requestedAt else { return }
                if whole.requestedAt == requestedAt, stored.hasVersion(of: whole) == false { return }
            }
            var draft = EntryDraft(stored, key.resource, cache: self, length: bytes.count)
            draft.write(bytes)
            draft.finish(as: .result)
        }
    }

    /// Returns the fields of a response, and the times of its request and its arrival.
    private func origin(of head: ResponseHead) -> (fields: HTTPFields, requestedAt: Int, receivedAt: Int) {
        if let stored = (head.unparsed as? AgedResponse)?.stored {
            return (stored.fields, stored.requestedAt, stored.receivedAt)
        }
        return (Storability.fields(of: head.response), head.requestedAt, head.receivedAt)
    }

    /// Returns a result whose response the origin has confirmed by a 304, and stores the new head later.
    ///
    /// Returns `nil` if the 304 is for another response (RFC 9111, section 4.3.4), or forbids storing the response; the
    /// result is then removed.
    package func confirm(_ result: StoredResult, by head: ResponseHead) -> StoredResult? {
        let key = result.key
        let old = result.stored.head.fields
        let fields = Storability.fields(old, updatedBy: head.response)
        let tags = (old.bytes(of: .eTag), head.response.headerFields.bytes(of: .eTag))
        let isSame = tags.0 == nil || tags.1 == nil || tags.0?.strongPart == tags.1?.strongPart
        guard head.redirectCount == 0, isSame, CacheControl(fields).allowsStoring(HTTPResponse.Status.ok.code),
            VaryRule(fields).canMatch
        else {
            thread.append(to: .long) { [self] in removeIfUnchanged(result.stored) }
            return nil
        }
        let update = storedHead(
            fields, result.properties, key, requestedAt: head.requestedAt, receivedAt: head.receivedAt)
        let stored = StoredResponse(key: result.stored.key, head: update, body: result.stored.body)
        thread.append(to: .long) { [self] in
            // If it has been replaced or removed, there is nothing to do.
            _ = replaceHead(of: result.stored, with: update.packed, key.resource)
        }
        return StoredResult(
            head: ResponseHead(response: update.responseOfResult, url: key.request.url),
            properties: result.properties, bytes: result.bytes, source: .revalidated, isFresh: true, key: key,
            stored: stored)
    }

    private func storedHead(
        _ fields: HTTPFields, _ properties: String, _ key: ResultKey, requestedAt: Int, receivedAt: Int
    ) -> StoredHead {
        var fields = fields
        fields[.contentLength] = nil
        if let name = StoredHead.nameOfProperties { fields[name] = properties }
        return StoredHead(
            fields, of: key.resource, selection: key.selection, requestedAt: requestedAt, receivedAt: receivedAt)
    }
}

extension StoredHead {
    /// The name of the field with the properties of a result.
    fileprivate static let nameOfProperties = HTTPField.Name("webimage-result")

    /// The properties of a result; `nil` for a response.
    fileprivate var propertiesOfResult: String? { Self.nameOfProperties.flatMap { fields[$0] } }

    /// The response from which a result was computed.
    var responseOfResult: HTTPResponse {
        var response = response
        if let name = Self.nameOfProperties { response.headerFields[name] = nil }
        return response
    }
}
