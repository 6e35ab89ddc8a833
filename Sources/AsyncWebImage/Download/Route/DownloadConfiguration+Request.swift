import HTTPSemantics
import HTTPTransport
import HTTPTypes
import ResponseCache

extension DownloadConfiguration {
    /// Returns the request for a response, without range fields.
    func request(for key: FetchKey) -> TransportRequest {
        var request = TransportRequest(
            url: key.url,
            headerFields: headerFields.overridden(by: key.headerFields).asking(key.cachePolicy),
            credential: key.credential,
            handlesCookies: key.handlesCookies,
            deadlines: deadlines,
            maximumBodyBytes: max(0, key.transfer?.maximumBodyBytes ?? maximumBodyBytes),
            maximumRedirects: max(0, key.transfer?.maximumRedirects ?? maximumRedirects),
            redirectPolicy: redirectPolicy,
            cacheKey: key.cacheKey)
        request.maximumConnectionsPerHost = connectionsPerHost
        return request
    }
}

extension HTTPFields {
    /// Returns these fields with a `Cache-Control` directive that applies `policy` to intermediate caches as well (RFC
    /// 9111, section 5.2.1); unchanged if they already contain `Cache-Control`.
    fileprivate func asking(_ policy: CachePolicy) -> HTTPFields {
        let directive: String
        switch policy {
        case .reload: directive = "no-cache"
        case .revalidate: directive = "max-age=0"
        case .useProtocol, .cacheElseLoad, .cacheOnly, .noStore: return self
        }
        guard !contains(.cacheControl) else { return self }
        var fields = self
        fields[.cacheControl] = directive
        return fields
    }
}
