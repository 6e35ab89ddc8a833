package import HTTPTypes

/// The rules for the responses and header fields that a private cache stores (RFC 9111, section 3).
package enum Storability {
    /// The statuses of responses that contain the complete representation.
    package static let statuses: Set<Int> = [200, 203]
    /// The statuses whose freshness may be estimated (RFC 9110, section 15.1).
    static let heuristicStatuses: Set<Int> = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]
    /// The statuses whose meaning for caches is implemented (section 5.2.2.3).
    static let understoodStatuses: Set<Int> = heuristicStatuses.union([
        302, 303, 307, 400, 403, 406, 409, 415, 422, 451, 500, 502, 503, 504,
    ])
    /// The statuses of responses that are never reused.
    ///
    /// They depend on conditions, ranges, or credentials of the request, or must not be stored (RFC 6585).
    private static let unusableStatuses: Set<Int> = [206, 304, 401, 407, 412, 416, 428, 429, 431, 511]

    /// Returns whether the response to a request with these fields may be stored if its body is complete; `receivedAt`
    /// dates a response without `Date`.
    ///
    /// Responses with other statuses than 200 and 203 are stored only if they have a freshness lifetime: they are
    /// remembered for as long as the origin says. A partial response is not stored. A response after a redirect that
    /// the transport has followed belongs to another URL.
    /// Responses to requests with credentials are stored separately for each credential, as in any private cache
    /// (section 3.5 applies to shared caches).
    package static func allows(
        _ method: HTTPRequest.Method, _ fields: HTTPFields, _ response: HTTPResponse, redirectCount: Int,
        receivedAt: Int
    ) -> Bool {
        let status = response.status.code
        return method == .get && redirectCount == 0
            && (statuses.contains(status) || isReusable(response, receivedAt))
            && CacheControl(response.headerFields).allowsStoring(status)
            && !CacheControl(fields, isRequest: true).noStore
            && VaryRule(response.headerFields).canMatch
    }

    /// Returns whether a response with any final status can be used again without asking the origin (section 3).
    private static func isReusable(_ response: HTTPResponse, _ receivedAt: Int) -> Bool {
        let status = response.status.code
        guard status >= 200, !unusableStatuses.contains(status) else { return false }
        if response.status.kind == .redirection {
            // Others need a decision of the user.
            guard [301, 302, 303, 307, 308].contains(status), response.headerFields[.location] != nil else {
                return false
            }
        }
        return !CacheControl(response.headerFields).noCache
            && StoredFreshness(response, requestedAt: receivedAt, receivedAt: receivedAt).lifetime > 0
    }

    /// Returns the fields to store (section 3.1), without those of the connection.
    package static func fields(of response: HTTPResponse) -> HTTPFields {
        var dropped = connectionFields
        for line in response.headerFields[values: .connection] {
            for name in line.split(separator: ",") { dropped.insert(name.trimmed.lowercased()) }
        }
        return response.headerFields.filter { !dropped.contains($0.name.canonicalName) }
    }

    /// Returns the fields of a stored head updated by a 304 (sections 3.2 and 4.3.4): its fields replace those with
    /// the same name, except for those that describe the stored bytes.
    package static func fields(_ stored: HTTPFields, updatedBy response: HTTPResponse) -> HTTPFields {
        var fields = stored
        // Those of the earlier message would make this one older than it is (sections 4.2.3 and 5.1).
        (fields[.age], fields[.date]) = (nil, nil)
        let updates: HTTPFields = Self.fields(of: response).filter { !bodyFields.contains($0.name.canonicalName) }
        for field in updates { fields[values: field.name] = [] }
        for field in updates { fields.append(field) }
        return fields
    }

    private static let connectionFields: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]
    private static let bodyFields: Set<String> = [
        "content-length", "content-encoding", "content-type", "content-range",
    ]
}

extension Substring {
    /// The text without whitespace at both ends.
    var trimmed: Substring {
        func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
        guard let last = lastIndex(where: { !isBlank($0) }) else { return "" }
        return self[...last].drop(while: isBlank)
    }
}
