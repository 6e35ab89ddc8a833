package import HTTPSemantics
package import HTTPTransport
import HTTPTypes
import Hashing

/// The key of a result computed from the response to a request, such as an encoded image.
package struct ResultKey: Sendable {
    let request: TransportRequest
    let resource: CachedResource
    /// A hash of what the result is.
    let selection: [UInt8]
    let storageKey: ResponseStorageKey

    /// Creates the key of the result that `identity` describes.
    ///
    /// Requests with other header fields have other results, because the response could depend on them. Returns `nil`
    /// for requests whose responses are not stored.
    package init?(of request: TransportRequest, policy: CachePolicy, identity: String) {
        guard let cached = CacheRequest(request, policy: policy), cached.usesStoredResponses || policy == .reload
        else { return nil }
        self.request = request
        resource = cached.resource
        // The directives by which a policy asks other caches say nothing about the response.
        let fields = request.headerFields.filter { $0.name != .cacheControl }
        let text = fields.map { "\($0.name.canonicalName): \($0.value)" }.sorted() + ["", identity]
        selection = SHA256.hash(text.joined(separator: "\n"))
        storageKey = ResponseStorageKey(
            resource: resource.hash, selection: selection.prefix(8).hexadecimal, .result)
    }
}

/// A result as it is stored: its bytes, and the response from which it was computed.
package struct StoredResult: Sendable {
    /// The head of the response, without its length, and with its age.
    package let head: ResponseHead
    /// The properties of the result, as text.
    package let properties: String
    package let bytes: [UInt8]
    package let source: ResponseSource
    /// A Boolean value that indicates whether the result can be used without asking the origin.
    package let isFresh: Bool
    let key: ResultKey
    let stored: StoredResponse

    /// The version to ask the origin about; `nil` if the response has none.
    package var version: ResponseVersion? { ResponseVersion(head.response.headerFields) }
}
