package import HTTPTypes

/// The rules for the responses and header fields that a private cache stores (RFC 9111, section 3).
package enum Storability {
    /// The statuses of responses that contain the complete representation.
    package static let statuses: Set<Int> = [200, 203]

    /// Returns whether the response to a request with these fields may be stored if its body is complete.
    ///
    /// A response after a redirect belongs to another URL, and the redirect itself can change at any time. Responses
    /// to requests with credentials are stored separately for each credential, as in any private cache (section 3.5
    /// applies to shared caches).
    package static func allows(
        _ method: HTTPRequest.Method, _ fields: HTTPFields, _ response: HTTPResponse, redirectCount: Int
    ) -> Bool {
        let control = CacheControl(response.headerFields)
        return method == .get && fields[.range] == nil
            && statuses.contains(response.status.code) && redirectCount == 0
            && control.allowsStoring
            && !CacheControl(fields, isRequest: true).noStore
            && VaryRule(response.headerFields).canMatch
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
        let news: HTTPFields = Self.fields(of: response).filter { !bodyFields.contains($0.name.canonicalName) }
        for field in news { fields[values: field.name] = [] }
        for field in news { fields.append(field) }
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
