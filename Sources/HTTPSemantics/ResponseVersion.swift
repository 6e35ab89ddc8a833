package import HTTPTypes

/// The version of a known response, for conditional requests.
public struct ResponseVersion: Sendable, Hashable {
    /// The value of `ETag`, including quotes.
    public let entityTag: String?
    /// The value of `Last-Modified`.
    public let lastModified: String?

    /// Creates the version of a response with these fields; returns `nil` if they declare none.
    package init?(_ fields: HTTPFields) {
        entityTag = fields[.eTag]
        lastModified = fields[.lastModified].flatMap { HTTPDate.seconds($0) == nil ? nil : $0 }
        if entityTag == nil, lastModified == nil { return nil }
    }

    /// Adds the fields that request the response only if it has changed (RFC 9111, section 4.3.1).
    package func add(to fields: inout HTTPFields) {
        if let entityTag { fields[.ifNoneMatch] = entityTag }
        if let lastModified { fields[.ifModifiedSince] = lastModified }
    }
}
