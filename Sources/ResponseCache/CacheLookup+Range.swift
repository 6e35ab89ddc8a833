import HTTPSemantics
import HTTPTransport
import HTTPTypes
import Threading

// Requests for a part of a body (RFC 9111, sections 3.3 and 3.4): any stored response that contains it can answer.
extension CacheLookup {
    /// Looks up stored responses that contain a range, and decides; on the cache's thread.
    func decide(_ range: ByteRange) -> CacheDecision {
        let whole = cache.find(.whole, request, key)
        var found = whole.flatMap { section(of: $0, range) }
        for kind in [EntryKind.part, .range] {
            let part = cache.find(kind, request, key) { stored in
                // A part that is older than a whole response can be of an earlier version.
                let isOutdated = whole.map { cache.isNewer($0.head, than: stored.head) } ?? false
                return !isOutdated && section(of: stored, range) != nil
            }
            guard let reply = part.flatMap({ section(of: $0, range) }) else { continue }
            if let best = found, !reply.stored.head.isMoreRecent(than: best.stored.head, at: cache.now()) { continue }
            found = reply
        }
        if let found { return .serve(found) }
        if policy == .cacheOnly { return .refuse }
        // The response to a request for everything that follows a stored beginning completes it.
        return (range.openStart != nil ? resumption : nil) ?? .fetch(standIn: nil)
    }

    /// Returns the requested section of a stored response; `nil` if the response does not contain it or must not be
    /// used without asking the origin.
    private func section(of stored: StoredResponse, _ range: ByteRange) -> StoredReply? {
        let asked = CacheControl(request.headerFields, isRequest: true)
        guard !stored.head.isFailure, policy.step(stored: stored.head, asked: asked, now: cache.now()) == .serve else {
            return nil
        }
        // The same request has the same response, which the origin has described itself.
        if let own = stored.head.range, own == request.headerFields[.range] { return aged(stored) }
        guard let (first, total) = stored.extent, let positions = range.positions(in: total),
            positions.lowerBound >= first, positions.upperBound <= first + stored.body.length
        else { return nil }
        var response = stored.head.response
        response.status = .partialContent
        response.headerFields[.contentRange] =
            "bytes \(positions.lowerBound)-\(positions.upperBound - 1)/\(total)"
        response.headerFields[.contentLength] = "\(positions.count)"
        response.headerFields[.age] = "\(stored.head.freshness.age(at: cache.now()))"
        return StoredReply(
            stored: stored,
            head: ResponseHead(response: response, url: request.url, redirectCount: request.followedRedirects ?? 0),
            source: cache.source,
            positions: positions.lowerBound - first..<positions.upperBound - first)
    }
}

extension StoredResponse {
    /// The position of its first byte in the representation, and the length of that; `nil` if they are unknown.
    fileprivate var extent: (first: Int, total: Int)? {
        switch EntryKind(name) {
        case .whole: return (0, body.length)
        case .part: return head.contentLength.map { (0, $0) }
        case .range:
            // A response whose length is not that of its range is of no use for others.
            guard let range = head.fields[.contentRange].flatMap(ContentRange.init), let total = range.total,
                range.length == body.length
            else { return nil }
            return (range.first, total)
        case nil: return nil
        }
    }
}

extension TransportRequest {
    /// The single range of bytes that is requested unconditionally.
    var byteRange: ByteRange? {
        headerFields[.ifRange] == nil ? headerFields[.range].flatMap(ByteRange.init) : nil
    }
}

extension ResponseCache {
    /// The maximum number of requested parts stored for one URL.
    static let maximumRanges = 16

    /// Removes all other requested parts of a response if ``maximumRanges`` are stored, so that the part `name` can be
    /// added; on the cache's thread.
    ///
    /// The part itself can be among them: it is replaced, or has already been stored by another thread.
    func makeRoomForRange(_ name: String, _ key: CacheKey) {
        let names = names(key).filter { EntryKind($0) == .range && $0 != name }
        guard names.count >= Self.maximumRanges else { return }
        // Some of them may not exist.
        let parts = names.filter { open($0) != nil }
        if parts.count >= Self.maximumRanges { for name in parts { remove(name) } }
    }
}
