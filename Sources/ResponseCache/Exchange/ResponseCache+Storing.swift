package import HTTPTransport
import HTTPTypes

// Storing the responses that arrive over the network.
extension ResponseCache {
    /// Returns a writer for the body of a response, whose times are those of the cache's clock; `nil` if it may not be
    /// stored.
    ///
    /// A stored response that is outdated by one that may not be stored is removed later.
    func writer(for head: ResponseHead, to request: CacheRequest) -> EntryWriter? {
        let (sent, resource) = (request.transportRequest.withoutRange, request.resource)
        guard sent.allowsStoring(head, receivedAt: head.receivedAt), isStorable(head) else {
            // The stored response is outdated, and this one cannot replace it.
            let isOutdated = head.status.kind == .successful || [404, 410].contains(head.status.code)
            if !head.isAboutRange, isOutdated, !sent.isRedirected(head) {
                thread.append { [self] in removeEntries(of: resource.hash) }
            }
            return nil
        }
        var stored = StoredHead(head.response, to: sent, requestedAt: head.requestedAt, receivedAt: head.receivedAt)
        if head.redirection != nil {
            // The body of a redirect is not delivered.
            stored.fields[.contentLength] = nil
        }
        guard fits(head) else {
            thread.append { [self, stored] in removeReplaced(by: stored, resource) }
            return nil
        }
        return EntryWriter(stored, resource, cache: self, length: stored.contentLength)
    }

    /// Returns whether a response leads to the same place without the credentials of its request.
    func isStorable(_ head: ResponseHead) -> Bool { head.redirection?.addsCredentials != true }

    /// Returns whether a response is no longer than an entry may be.
    func fits(_ head: ResponseHead) -> Bool { head.contentLength ?? 0 <= configuration.maximumEntryBytes }
}

extension ResponseHead {
    /// A Boolean value that indicates whether the status refers to a range: 206 or 416.
    var isAboutRange: Bool { status == .partialContent || status == .rangeNotSatisfiable }
}

/// A request for which a cache has nothing, and whose response it may store.
package struct UncachedRequest: Sendable {
    private let request: CacheRequest
    private let cache: ResponseCache
    /// The time when the request was sent, by the clock of the cache.
    package let requestedAt: Int

    /// Creates a request that is sent now; returns `nil` if it bypasses the cache.
    package init?(_ request: TransportRequest, _ cache: ResponseCache, policy: CachePolicy) {
        guard let request = CacheRequest(request, policy: policy) else { return nil }
        (self.request, self.cache) = (request, cache)
        requestedAt = cache.now()
    }

    /// Records that the cache had nothing.
    package func recordMiss() { cache.record(.fetch(standIn: nil), request) }

    /// Returns the head of the response, which has just arrived, with the times of the cache's clock.
    package func timed(_ head: ResponseHead) -> ResponseHead {
        head.timed(requestedAt: requestedAt, receivedAt: cache.now())
    }

    /// Returns a writer for the body of the response with a timed head; `nil` if that may not be stored.
    package func writer(for head: ResponseHead) -> EntryWriter? { cache.writer(for: head, to: request) }
}
