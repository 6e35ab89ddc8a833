import HTTPTransport
import HTTPTypes

/// A stored response as it is served: with its age, and with the length of the stored body.
struct AgedResponse: UnparsedResponse {
    let stored: StoredHead
    /// The value of `Age` in seconds; `nil` if the origin has just confirmed the response.
    let age: Int?
    /// The number of bytes of the body.
    let length: Int

    var status: HTTPResponse.Status { stored.responseStatus }

    // A response without content has no length (RFC 9110, section 8.6).
    var contentLength: Int? { status == .noContent ? stored.contentLength : length }

    var fieldByteCount: Int { stored.fieldByteCount }

    var parsed: HTTPResponse {
        var response = stored.response
        if let age { response.headerFields[.age] = "\(age)" }
        if status != .noContent { response.headerFields[.contentLength] = "\(length)" }
        return response
    }
}
