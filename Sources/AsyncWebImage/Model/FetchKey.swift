import HTTPSemantics
import HTTPTransport
import HTTPTypes
import ResponseCache

/// What decides the bytes of a response: callers whose keys are equal share one download.
struct FetchKey: Sendable, Hashable {
    let url: HTTPURL
    /// Only the request's own fields; the configuration's are the same for all.
    let headerFields: HTTPFields
    /// Only the request's own.
    var credential: Credential?
    var handlesCookies = false
    var cachePolicy = CachePolicy.useProtocol

    /// The URL tells keys apart well enough; the fields are compared, not hashed.
    func hash(into hasher: inout Hasher) {
        hasher.combine(url.string)
    }
}

extension FetchKey {
    /// A Boolean value that indicates whether the caller has an answer already, and wants another only if there is one.
    var isConditional: Bool { !headerFields.isEmpty && headerFields.isConditional }
}

// Finished pixels are kept for all policies together.
extension FetchKey {
    /// Where there may be an image for this request already; nil if it wants a new one.
    func known(_ options: DecodeOptions) -> VariantKey? {
        cachePolicy.usesFinishedPixels ? memorable(options) : nil
    }

    /// Where its image is kept; nil if it is not.
    func memorable(_ options: DecodeOptions) -> VariantKey? {
        guard cachePolicy != .noStore, !isConditional else { return nil }
        var key = self
        key.cachePolicy = .useProtocol
        return VariantKey(fetch: key, options: options)
    }
}

/// What decides the pixels: callers whose keys are equal share one decode.
struct VariantKey: Sendable, Hashable {
    let fetch: FetchKey
    let options: DecodeOptions
}
