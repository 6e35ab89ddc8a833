import HTTPSemantics
package import HTTPTransport
package import HTTPTypes
import Hashing

/// The stored data of a response except its body.
package struct StoredHead: Sendable, Equatable {
    let url: String
    let owner: [UInt8]
    /// A hash of the request's fields named by `Vary`; empty without any.
    let selection: [UInt8]
    let requestedAt: Int
    let receivedAt: Int
    let status: Int
    private var content: StoredFields

    /// The header fields, parsed on every access if the head was read from a storage.
    var fields: HTTPFields {
        get { content.parsed }
        set { content = StoredFields(newValue) }
    }

    /// Creates the head of a response to `request`.
    package init(
        _ response: HTTPResponse, fields: HTTPFields? = nil, to request: TransportRequest, requestedAt: Int,
        receivedAt: Int
    ) {
        url = CachedResource.url(of: request)
        owner = CachedResource.owner(of: request)
        let fields = fields ?? Storability.fields(of: response)
        content = StoredFields(fields)
        selection = Self.selection(fields, request.headerFields)
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
        status = response.status.code
    }

    /// Creates the head of a result computed from a response with these fields.
    init(_ fields: HTTPFields, of resource: CachedResource, selection: [UInt8], requestedAt: Int, receivedAt: Int) {
        url = resource.url
        owner = resource.owner
        content = StoredFields(fields)
        self.selection = selection
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
        status = 200
    }

    /// A Boolean value that indicates whether the response is not a success: it is remembered, but never used stale.
    var isFailure: Bool { !(200...299).contains(status) }

    /// Returns the head updated by a 304, or by the head of a 206, received for `request`.
    func updated(
        by response: HTTPResponse, to request: TransportRequest, requestedAt: Int, receivedAt: Int
    ) -> StoredHead {
        StoredHead(
            HTTPResponse(status: .init(code: status)), fields: Storability.fields(fields, updatedBy: response),
            to: request, requestedAt: requestedAt, receivedAt: receivedAt)
    }

    /// Returns whether it has the validators of another response for the resource; `nil` if that is unknown because one of
    /// them has none.
    func hasVersion(of other: StoredHead) -> Bool? {
        let (own, others) = (fields, other.fields)
        if let tag = own.bytes(of: .eTag), let otherTag = others.bytes(of: .eTag) {
            return tag.strongPart == otherTag.strongPart
        }
        if let date = own.bytes(of: .lastModified), let otherDate = others.bytes(of: .lastModified) {
            return date == otherDate
        }
        return nil
    }

    /// Returns whether this head, which is the result of a 304, replaces the one that its entry has: not one of a
    /// request that was sent later.
    ///
    /// A request sent after this head was received does not count: the clock has been set back, and nothing could
    /// replace its head.
    func updates(_ stored: StoredHead) -> Bool {
        stored.requestedAt <= requestedAt || stored.requestedAt > receivedAt
    }

    var response: HTTPResponse { HTTPResponse(status: responseStatus, headerFields: fields) }

    var responseStatus: HTTPResponse.Status { .init(code: status) }

    /// The memory that the header fields take, in bytes.
    var fieldByteCount: Int { content.byteCount }

    /// The length of the body declared by the origin; `nil` if there is none.
    var contentLength: Int? { fields[.contentLength].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil } }

    var freshness: StoredFreshness {
        content.freshness ?? StoredFreshness(response, requestedAt: requestedAt, receivedAt: receivedAt)
    }

    /// Returns the key of its entry.
    func key(_ resource: CachedResource, _ kind: EntryKind = .whole) -> ResponseStorageKey {
        ResponseStorageKey(resource: resource.hash, selection: selection.prefix(8).hexadecimal, kind)
    }

    /// Returns whether it answers a request with these fields for a resource (RFC 9111, section 4.1).
    func answers(_ resource: CachedResource, _ fields: HTTPFields) -> Bool {
        guard url == resource.url, owner == resource.owner else { return false }
        // Without Vary, there is nothing to compare.
        return selection.isEmpty || selection == Self.selection(self.fields, fields)
    }

    /// Returns whether the response is more recent than another one: by their dates (RFC 9111, section 4), or if these
    /// are equal, by the times of their requests.
    func isMoreRecent(than other: StoredHead, at now: Int) -> Bool {
        (date(at: now), requestedAt) > (other.date(at: now), other.requestedAt)
    }

    /// The date of the response by the clock of this machine, as far as known.
    private func date(at now: Int) -> Int {
        // The clock has been set back since the response was received.
        if receivedAt > now { return 0 }
        // A response without a date is dated by its arrival (RFC 9110, section 6.6.1). A later date is wrong.
        return min(fields[.date].flatMap(HTTPDate.seconds) ?? receivedAt, receivedAt)
    }

    private static func selection(_ response: HTTPFields, _ request: HTTPFields) -> [UInt8] {
        let selection = VaryRule(response).selection(of: request)
        return selection.isEmpty ? [] : SHA256.hash(selection)
    }
}

// MARK: - As bytes

extension StoredHead {
    /// The maximum number of bytes of a head; a transport's limit is lower.
    static let maximumBytes = 1 << 20

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        bytes.append(text: url)
        bytes.append(bytes: owner)
        bytes.append(bytes: selection)
        bytes.append(requestedAt)
        bytes.append(receivedAt)
        bytes.append(status)
        freshness.append(to: &bytes)
        content.append(to: &bytes)
        return bytes
    }

    /// The head with its freshness and fields as bytes, so that they are determined only once.
    var packed: StoredHead {
        var head = self
        head.content = content.packed(freshness)
        return head
    }

    /// The head with its fields parsed, for code that needs them repeatedly.
    var parsed: StoredHead {
        var head = self
        head.content = StoredFields(fields)
        return head
    }

    /// Parses a head; returns `nil` if the bytes are not those of a head.
    init?(_ bytes: [UInt8]) { self.init(bytes, in: bytes.indices) }

    /// Parses the head at a position in other bytes.
    init?(_ bytes: [UInt8], in positions: Range<Int>) {
        var reader = ByteFieldReader(bytes, in: positions)
        guard let url = reader.text(), let owner = reader.bytes(), let selection = reader.bytes(),
            let requestedAt = reader.number(), let receivedAt = reader.number(),
            let status = reader.number(), (200...999).contains(status)
        else { return nil }
        // Times are added later.
        guard requestedAt < 1 << 48, receivedAt < 1 << 48 else { return nil }
        guard let freshness = StoredFreshness(from: &reader, receivedAt: receivedAt),
            let content = StoredFields(from: &reader, freshness), reader.isAtEnd
        else { return nil }
        self.url = url
        self.owner = owner
        self.selection = selection
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
        self.status = status
        self.content = content
    }
}
