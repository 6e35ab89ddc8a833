import HTTPSemantics
package import HTTPTransport
package import HTTPTypes
import Hashing

/// The stored data of a response except its body.
package struct StoredHead: Sendable, Equatable {
    let url: String
    let owner: [UInt8]
    /// A hash of the request's fields named by `Vary`.
    let selection: [UInt8]
    let requestedAt: Int
    let receivedAt: Int
    private(set) var status: Int
    /// The `Range` field of the request for a partial response; `nil` for other responses.
    private(set) var range: String?
    var fields: HTTPFields

    /// Creates the head of a response to `request`.
    package init(
        _ response: HTTPResponse, fields: HTTPFields? = nil, to request: TransportRequest, requestedAt: Int,
        receivedAt: Int
    ) {
        let key = CacheKey(request)
        url = key.url
        owner = key.owner
        self.fields = fields ?? Storability.fields(of: response)
        selection = Self.selection(self.fields, request.headerFields)
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
        status = response.status.code
        range = response.status == .partialContent ? request.headerFields[.range] : nil
    }

    /// The kind of its entry when the body is complete.
    var kind: EntryKind { range == nil ? .whole : .range }

    /// A Boolean value that indicates whether the response is not a success: it is remembered, but never used stale.
    var isFailure: Bool { !(200...299).contains(status) }

    /// The head of the whole response, if this is the head of its beginning, which can be resumed and is long enough.
    var beginning: StoredHead? {
        guard range != nil, let part = fields[.contentRange].flatMap(ContentRange.init), part.first == 0,
            let total = part.total, contentLength == part.length, part.length < total,
            part.length >= Resumption.minimumBytes, StrongValidator.ofContinuable(fields) != nil
        else { return nil }
        var whole = self
        (whole.status, whole.range) = (HTTPResponse.Status.ok.code, nil)
        whole.fields[.contentRange] = nil
        whole.fields[.contentLength] = "\(total)"
        return whole
    }

    /// Returns the head updated by a 304 received for `request`.
    func renewed(
        by response: HTTPResponse, to request: TransportRequest, requestedAt: Int, receivedAt: Int
    ) -> StoredHead {
        StoredHead(
            HTTPResponse(status: .init(code: status)), fields: Storability.fields(fields, updatedBy: response),
            to: request, requestedAt: requestedAt, receivedAt: receivedAt)
    }

    var response: HTTPResponse { HTTPResponse(status: .init(code: status), headerFields: fields) }

    /// The length of the body declared by the origin; `nil` if there is none.
    var contentLength: Int? { fields[.contentLength].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil } }

    var freshness: Freshness { Freshness(response, requestedAt: requestedAt, receivedAt: receivedAt) }

    /// Returns the name of its file or entry; see ``name(_:_:)``.
    func name(_ key: CacheKey) -> String {
        Self.name(key, range.map { SHA256.hash(selection + Array($0.utf8)) } ?? selection)
    }

    /// Returns whether it answers a request with these fields (RFC 9111, section 4.1).
    func answers(_ key: CacheKey, _ fields: HTTPFields) -> Bool {
        url == key.url && owner == key.owner && selection == Self.selection(self.fields, fields)
    }

    /// Returns the name of the entry without `Vary`, given that of its key.
    static func plainName(_ key: String) -> String { "\(key)-\(plainSuffix)" }

    /// Returns whether a name is that of an entry without `Vary`.
    static func isPlain(_ name: String) -> Bool { name.hasSuffix(plainSuffix) }

    private static let plainSuffix = SHA256.hash("").prefix(8).hexadecimal

    private static func name(_ key: CacheKey, _ selection: [UInt8]) -> String {
        "\(key.name)-\(selection.prefix(8).hexadecimal)"
    }

    private static func selection(_ response: HTTPFields, _ request: HTTPFields) -> [UInt8] {
        SHA256.hash(VaryRule(response).selection(of: request))
    }
}

// MARK: - As bytes

extension StoredHead {
    /// The maximum number of bytes of a head; a transport's limit is lower.
    static let maximumBytes = 1 << 20

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(Array(url.utf8))
        bytes.append(owner)
        bytes.append(selection)
        bytes.append(requestedAt)
        bytes.append(receivedAt)
        bytes.append(status)
        bytes.append(fields.count)
        for field in fields {
            bytes.append(Array(field.name.rawName.utf8))
            bytes.append(Array(field.value.utf8))
        }
        if let range { bytes.append(Array(range.utf8)) }
        return bytes
    }

    /// Parses a head; returns `nil` if the bytes are not those of a head.
    init?(_ bytes: [UInt8]) {
        var reader = ByteFieldReader(bytes)
        guard let url = reader.text(), let owner = reader.bytes(), let selection = reader.bytes(),
            let requestedAt = reader.number(), let receivedAt = reader.number(),
            let status = reader.number(), (200...999).contains(status), let count = reader.number()
        else { return nil }
        // Times are added later.
        guard requestedAt < 1 << 48, receivedAt < 1 << 48 else { return nil }
        var fields = HTTPFields()
        for _ in 0..<count {
            guard let name = reader.text().flatMap({ HTTPField.Name($0) }), let value = reader.text() else {
                return nil
            }
            fields.append(HTTPField(name: name, value: value))
        }
        range = status == HTTPResponse.Status.partialContent.code ? reader.text() : nil
        guard reader.isAtEnd else { return nil }
        self.url = url
        self.owner = owner
        self.selection = selection
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
        self.status = status
        self.fields = fields
    }
}

extension [UInt8] {
    /// Appends eight bytes in little-endian order.
    mutating func append(_ number: Int) {
        for shift in stride(from: 0, to: 64, by: 8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    /// Appends four bytes in little-endian order.
    mutating func append(_ number: UInt32) {
        for shift in stride(from: 0, to: 32, by: 8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    fileprivate mutating func append(_ bytes: [UInt8]) {
        append(bytes.count)
        self += bytes
    }
}

/// Reads fields in the order in which they were written; returns `nil` if a field extends beyond the data.
struct ByteFieldReader {
    private let all: [UInt8]
    private var index: Int

    init(_ bytes: [UInt8], from index: Int = 0) {
        all = bytes
        self.index = index
    }

    var isAtEnd: Bool { index == all.count }

    mutating func number() -> Int? {
        guard let low = number32(), all.count - index >= 4, let high = number32() else { return nil }
        let number = Int(truncatingIfNeeded: UInt64(high) << 32 | UInt64(low))
        return number >= 0 ? number : nil
    }

    mutating func number32() -> UInt32? {
        guard all.count - index >= 4 else { return nil }
        defer { index += 4 }
        return UInt32(all[index]) | UInt32(all[index + 1]) << 8 | UInt32(all[index + 2]) << 16
            | UInt32(all[index + 3]) << 24
    }

    mutating func bytes() -> [UInt8]? {
        guard let count = number(), count <= all.count - index else { return nil }
        defer { index += count }
        return Array(all[index..<index + count])
    }

    mutating func text() -> String? { bytes().map { String(decoding: $0, as: UTF8.self) } }
}
