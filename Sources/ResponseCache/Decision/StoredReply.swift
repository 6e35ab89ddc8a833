package import HTTPTransport

/// A stored response to serve.
package struct StoredReply: Sendable {
    var stored: StoredResponse
    package let head: ResponseHead
    package let source: ResponseSource
    /// The updated head to store.
    var update: StoredHead?
    /// A Boolean value that indicates whether the response is stale and must be revalidated after it has been served.
    var needsRevalidation = false

    /// The whole body, if it has been read.
    var body: [UInt8]? {
        if case .bytes(let bytes, _) = stored.body { bytes } else { nil }
    }
}
