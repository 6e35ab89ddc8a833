import HTTPSemantics
package import HTTPTransport
public import HTTPTypes

// Single responses, by the URL of a request without credentials, cookies, and fields named by `Vary`.
extension ResponseCache {
    /// Returns whether ``response(for:)`` would find a response for a URL or an `ImageRequest.cacheKey`.
    public func contains(_ url: String) async -> Bool {
        guard let request = Self.request(for: url) else { return false }
        return await thread.run { [self] in find(.whole, request, CachedResource(request)) != nil }
    }

    /// Returns the complete response stored for a URL or an `ImageRequest.cacheKey`, even if it is stale
    /// (``Entry/isFresh``); `nil` if there is none, it is damaged, or it cannot be read.
    ///
    /// Responses to requests with credentials or cookies are not returned.
    public func response(for url: String) async -> (entry: Entry, body: [UInt8])? {
        guard let request = Self.request(for: url) else { return nil }
        return await thread.run(to: .long) { [self] in
            guard let stored = find(.whole, request, CachedResource(request)), let entry = Entry(stored, at: now())
            else { return nil }
            var reader = StoredBodyReader(stored.body)
            var body: [UInt8] = []
            // A storage can report any length.
            body.reserveCapacity(min(stored.body.length, Self.maximumReservedBytes))
            do throws(StoredBodyError) {
                while let piece = try reader.next() { body += piece }
            } catch {
                removeDamaged(stored, after: error)
                return nil
            }
            return (entry, body)
        }
    }

    /// Stores a response as if it had just been received for a URL, or an `ImageRequest.cacheKey`; returns whether it is
    /// stored.
    ///
    /// It is not stored if its fields forbid that (RFC 9111, section 3), or if it is too large. Without fields that
    /// determine its freshness, such as `Cache-Control`, a response with status 200 or 203 is stale immediately, and
    /// one with another status is not stored. Nor is a response with status 200 or 203 and an empty body.
    @discardableResult
    public func store(_ body: [UInt8], _ head: HTTPResponse, for url: String) async -> Bool {
        let receivedAt = now()
        guard let request = Self.request(for: url),
            Storability.allows(.get, [:], head, redirectCount: 0, receivedAt: receivedAt),
            body.count <= configuration.maximumEntryBytes
        else { return false }
        var head = head
        head.headerFields[.contentLength] = "\(body.count)"
        let stored = StoredHead(head, to: request, requestedAt: receivedAt, receivedAt: receivedAt)
        let writer = EntryWriter(stored, CachedResource(request), cache: self, length: body.count)
        await writer.append(body)
        await writer.commit()
        return await contains(url)
    }

    /// Removes the responses stored for a URL, or an `ImageRequest.cacheKey`, except responses to requests with
    /// credentials or cookies.
    ///
    /// If one of them is a redirect, the responses stored for its target remain.
    public func remove(_ url: String) async {
        guard let request = Self.request(for: url) else { return }
        await thread.run { [self] in removeEntries(of: CachedResource(request).hash) }
    }

    /// Removes the responses stored for a request, and those to which stored redirects lead.
    package func removeAllHops(_ request: TransportRequest) async {
        await thread.run { [self] in
            var hop = CacheRequest(request, policy: .cacheOnly)
            while let current = hop {
                hop = nil
                if case .serve(let reply) = lookUp(current), reply.head.status.kind == .redirection {
                    hop = current.target(of: reply)
                }
                // Also ends a loop of redirects.
                removeEntries(of: current.resource.hash)
            }
            // Also for a request that the cache would not answer.
            removeEntries(of: CachedResource(request).hash)
        }
    }

    /// The maximum memory that is reserved for a stored body before it is read.
    private static let maximumReservedBytes = 1 << 20

    /// Returns the request for a URL or a cache key; `nil` for text that is neither because it is empty.
    private static func request(for text: String) -> TransportRequest? {
        if let url = try? HTTPURL(text) { return TransportRequest(url: url) }
        // Only the key matters for what is stored.
        guard !text.isEmpty, let url = try? HTTPURL("http://localhost/") else { return nil }
        return TransportRequest(url: url, cacheKey: text)
    }
}
