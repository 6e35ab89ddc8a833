import HTTPSemantics
import HTTPTransport
import HTTPTypes
import ResponseCache

/// The properties of a request that determine the response: callers with equal keys share one download.
struct FetchKey: Sendable, Hashable {
    let url: HTTPURL
    /// The request's own fields; the configuration's are the same for all requests.
    let headerFields: HTTPFields
    /// The request's own credential.
    var credential: Credential?
    var handlesCookies = false
    var cachePolicy = CachePolicy.useProtocol
    /// The text that identifies the resource instead of the URL, if any.
    var cacheKey: String?

    /// Hashes only the URL or cache key, which distinguishes most keys; `==` compares the rest.
    func hash(into hasher: inout Hasher) {
        hasher.combine(cacheKey ?? url.string)
    }

    static func == (left: FetchKey, right: FetchKey) -> Bool {
        left.hasSameResource(as: right) && left.cachePolicy == right.cachePolicy
            && left.handlesCookies == right.handlesCookies && left.headerFields == right.headerFields
            && left.credential == right.credential
    }

    private func hasSameResource(as other: FetchKey) -> Bool {
        if cacheKey == nil, other.cacheKey == nil { return url == other.url }
        return (cacheKey ?? url.string) == (other.cacheKey ?? other.url.string)
            && url.user == other.url.user && url.password == other.url.password
    }
}

extension FetchKey {
    /// A Boolean value that indicates whether the caller has a version and wants the image only if it has changed.
    var isConditional: Bool { !headerFields.isEmpty && headerFields.isConditional }
}

// Decoded images are cached for all policies together.
extension FetchKey {
    /// Returns the key under which a cached image may be used for this request; `nil` if the policy forbids it.
    ///
    /// Under a key with a digest, there are only images of bodies with this digest.
    func cacheKeyForReading(_ options: DecodeOptions, digest: BodyDigest?) -> ImageCacheKey? {
        cachePolicy.usesFinishedPixels ? cacheKeyForStoring(options, digest: digest) : nil
    }

    /// Returns the key under which the image may be cached; `nil` if the policy forbids it.
    func cacheKeyForStoring(_ options: DecodeOptions, digest: BodyDigest?) -> ImageCacheKey? {
        guard cachePolicy != .noStore, !isConditional else { return nil }
        if !headerFields.isEmpty, CacheControl(headerFields, isRequest: true).noStore { return nil }
        return ImageCacheKey(fetch: withoutPolicy, options: options, expectedDigest: digest)
    }

    /// The key of all cached images of the response.
    var withoutPolicy: FetchKey {
        var key = self
        key.cachePolicy = .useProtocol
        return key
    }
}
