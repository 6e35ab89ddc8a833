package import HTTPTypes

/// Which version of a resource somebody has: what a server is asked to compare with its own.
public struct ResponseVersion: Sendable, Hashable {
    /// The value of `ETag`, quotes and all.
    public let entityTag: String?
    /// The value of `Last-Modified`.
    public let lastModified: String?

    /// The version that came with a response of these fields; nil if they do not say.
    package init?(_ fields: HTTPFields) {
        entityTag = fields[.eTag]
        lastModified = fields[.lastModified].flatMap { HTTPDate.seconds($0) == nil ? nil : $0 }
        if entityTag == nil, lastModified == nil { return nil }
    }

    /// The fields that ask for the response only if it has changed (RFC 9111, section 4.3.1).
    package func add(to fields: inout HTTPFields) {
        if let entityTag { fields[.ifNoneMatch] = entityTag }
        if let lastModified { fields[.ifModifiedSince] = lastModified }
    }
}
