package import HTTPTypes

/// The version of a known response, for conditional requests.
public struct ResponseVersion: Sendable, Hashable {
    private let entityTagBytes: [UInt8]?
    /// The value of `Last-Modified`.
    public let lastModified: String?

    /// The value of `ETag`, including quotes; bytes that are not UTF-8 are replaced.
    public var entityTag: String? { entityTagBytes.map { String(decoding: $0, as: UTF8.self) } }

    /// Creates the version of a response with these fields; returns `nil` if they declare none.
    package init?(_ fields: HTTPFields) {
        entityTagBytes = fields.bytes(of: .eTag)
        lastModified = fields[.lastModified].flatMap { HTTPDate.seconds($0) == nil ? nil : $0 }
        if entityTagBytes == nil, lastModified == nil { return nil }
    }

    /// Adds the fields that request the response only if it has changed (RFC 9111, section 4.3.1).
    package func add(to fields: inout HTTPFields) {
        // The entity tag as it was received, to the byte.
        if let entityTagBytes { fields.set(.ifNoneMatch, entityTagBytes) }
        if let lastModified { fields[.ifModifiedSince] = lastModified }
    }
}
