import HTTPSemantics
import HTTPTransport
import HTTPTypes
import ResponseCache

/// The properties of a request that determine the response: callers with equal keys share one download.
struct FetchKey: Sendable, Hashable {
    /// The shared properties, because keys are copied often.
    private final class Properties: Sendable {
        let url: HTTPURL
        let headerFields: HTTPFields
        let credential: Credential?
        let handlesCookies: Bool
        let cachePolicy: CachePolicy
        let cacheKey: String?
        let transfer: TransferOptions?
        let source: SourceRoute?
        /// The hash value of the URL or cache key, because keys are hashed often.
        let hash: Int

        init(
            url: HTTPURL, headerFields: HTTPFields, credential: Credential?, handlesCookies: Bool,
            cachePolicy: CachePolicy, cacheKey: String?, transfer: TransferOptions?, source: SourceRoute?
        ) {
            self.url = url
            self.headerFields = headerFields
            self.credential = credential
            self.handlesCookies = handlesCookies
            self.cachePolicy = cachePolicy
            self.cacheKey = cacheKey
            self.transfer = transfer
            self.source = source
            hash = (cacheKey ?? url.string).hashValue
        }
    }

    private let properties: Properties

    var url: HTTPURL { properties.url }
    /// The request's own fields; the configuration's are the same for all requests.
    var headerFields: HTTPFields { properties.headerFields }
    /// The request's own credential.
    var credential: Credential? { properties.credential }
    var handlesCookies: Bool { properties.handlesCookies }
    var cachePolicy: CachePolicy { properties.cachePolicy }
    /// The text that identifies the resource instead of the URL, if any.
    var cacheKey: String? { properties.cacheKey }
    /// The request's own settings of the transfer, if any.
    var transfer: TransferOptions? { properties.transfer }
    /// The route to the image if it is not fetched over HTTP; the URL or the cache key identifies it.
    var source: SourceRoute? { properties.source }

    init(
        url: HTTPURL, headerFields: HTTPFields, credential: Credential? = nil, handlesCookies: Bool = false,
        cachePolicy: CachePolicy = .useProtocol, cacheKey: String? = nil, transfer: TransferOptions? = nil,
        source: SourceRoute? = nil
    ) {
        properties = Properties(
            url: url, headerFields: headerFields, credential: credential, handlesCookies: handlesCookies,
            cachePolicy: cachePolicy, cacheKey: cacheKey, transfer: transfer, source: source)
    }

    /// Hashes only the URL or cache key, which distinguishes most keys; `==` compares the rest.
    func hash(into hasher: inout Hasher) {
        hasher.combine(properties.hash)
    }

    static func == (left: FetchKey, right: FetchKey) -> Bool {
        left.properties === right.properties
            || left.cachePolicy == right.cachePolicy && left.transfer == right.transfer
                && left.hasSameResponse(as: right)
    }

    /// Returns whether both keys are equal, or differ only in what does not change a complete response: their cache
    /// policies and the settings of the transfer.
    func hasSameResponse(as other: FetchKey) -> Bool {
        properties.hash == other.properties.hash && hasSameResource(as: other)
            && handlesCookies == other.handlesCookies && headerFields == other.headerFields
            && credential == other.credential
    }

    /// The cache key or, without one, the URL.
    var resourceName: String { cacheKey ?? url.string }

    private func hasSameResource(as other: FetchKey) -> Bool {
        if cacheKey == nil, other.cacheKey == nil { return url == other.url }
        return resourceName == other.resourceName
            && url.user == other.url.user && url.password == other.url.password
    }
}

extension FetchKey {
    /// Returns the key of the same request with another cache policy.
    func with(_ cachePolicy: CachePolicy) -> FetchKey {
        cachePolicy == self.cachePolicy ? self : with(cachePolicy, transfer, source)
    }

    /// Returns the key of the same request with the question whether a version is current.
    func asking(about version: ResponseVersion) -> FetchKey {
        var fields = headerFields
        version.add(to: &fields)
        return FetchKey(
            url: url, headerFields: fields, credential: credential, handlesCookies: handlesCookies,
            cachePolicy: cachePolicy, cacheKey: cacheKey, transfer: transfer, source: source)
    }

    private func with(
        _ cachePolicy: CachePolicy, _ transfer: TransferOptions?, _ source: SourceRoute?
    ) -> FetchKey {
        FetchKey(
            url: url, headerFields: headerFields, credential: credential, handlesCookies: handlesCookies,
            cachePolicy: cachePolicy, cacheKey: cacheKey, transfer: transfer, source: source)
    }

    /// The key of all cached images of the response, which does not keep a source alive.
    var ofResponse: FetchKey {
        transfer == nil && source == nil ? with(.useProtocol) : with(.useProtocol, nil, nil)
    }

    /// The name of the host for the limits per host; each scheme of a source counts as one host.
    var limitedHost: String {
        guard source != nil else { return url.host }
        // Contents of requests have no origin in common.
        return url.scheme == RequestContent.scheme ? url.string : "\(url.scheme):"
    }

    /// A Boolean value that indicates whether the response cache applies to the request.
    var usesResponseCache: Bool { source?.usesResponseCache ?? true }

    /// A Boolean value that indicates whether the caller has a version and wants the image only if it has changed.
    var isConditional: Bool { !headerFields.isEmpty && headerFields.isConditional }
}
