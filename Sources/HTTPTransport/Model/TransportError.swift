/// Why a request got no (whole) response.
public struct TransportError: Error, Sendable, Hashable {
    /// The URL that failed: after redirects, the last one.
    ///
    /// Without user and password.
    public let url: String
    /// What happened.
    public let reason: Reason
    /// libcurl's own words, where they add something.
    public let detail: String?

    /// A failure of `url`.
    public init(url: String, reason: Reason, detail: String? = nil) {
        self.url = url.withoutInvisibleCharacters
        self.reason = reason
        self.detail = detail?.withoutInvisibleCharacters
    }

    /// What can happen to a request.
    public enum Reason: Sendable, Hashable {
        /// The text is no http or https URL.
        case invalidURL
        /// The host has no address.
        case hostNotFound
        /// The process, or the system, has no file descriptor left for what the transfer needs.
        case tooManyOpenFiles
        /// No connection could be made.
        case connectionFailed
        /// What was given as the proxy is none that libcurl can use.
        case invalidProxy
        /// The proxy answered the request for a tunnel to an https host by this status.
        case refusedByProxy(status: Int)
        /// TLS could not be agreed on, or the certificate is not trusted.
        case insecure
        /// A deadline passed.
        case timedOut(Deadlines.Kind)
        /// The connection ended before the response did; `expected` bytes of body, if they were announced.
        case truncated(expected: Int?, received: Int)
        /// The connection broke before any response.
        case connectionLost
        /// The body is over the request's limit, in bytes.
        case bodyTooLarge(limit: Int)
        /// The response's header is over the limit, in bytes.
        case headerTooLarge(limit: Int)
        /// The answer is not HTTP as it should be.
        case invalidResponse
        /// More redirects than allowed.
        case tooManyRedirects(limit: Int)
        /// A redirect to something that is no http or https URL.
        case redirectRefused
        /// A redirect from https to http, which the request's ``RedirectPolicy`` refuses.
        case insecureRedirect
        /// The server, or the proxy, does not accept the credential, or there is none to be had.
        case authenticationFailed
        /// The transport's ``NetworkPolicy`` does not allow it: the URL, a redirect's target, or every address of its host.
        case refusedByPolicy(PolicyRefusal)
        /// Only a stored response was wanted, and there is none.
        case notCached
        /// ``Transfer/cancel()`` was called, or the transport shut down.
        case cancelled
        /// Anything else libcurl may say, by its `CURLcode`.
        case other(code: Int)
    }

    /// A Boolean value that indicates whether the same request may well succeed later.
    public var isRetryable: Bool {
        switch reason {
        // It had all the time there is.
        case .timedOut(.total): false
        case .connectionFailed, .timedOut, .truncated, .connectionLost, .hostNotFound, .tooManyOpenFiles: true
        case .refusedByProxy(let status): status >= 500 || status == 408 || status == 429
        case .invalidURL, .invalidProxy, .insecure, .bodyTooLarge, .headerTooLarge, .invalidResponse, .tooManyRedirects,
            .redirectRefused, .insecureRedirect, .authenticationFailed, .refusedByPolicy, .notCached, .cancelled,
            .other:
            false
        }
    }
}

extension TransportError: CustomStringConvertible {
    /// One sentence for people, without the URL.
    public var description: String {
        guard let detail else { return reason.sentence }
        return "\(reason.sentence) (\(detail))"
    }
}

extension TransportError.Reason {
    fileprivate var sentence: String {
        switch self {
        case .invalidURL: "not a valid http or https URL"
        case .hostNotFound: "the host is unknown"
        case .tooManyOpenFiles: "too many open files"
        case .connectionFailed: "no connection could be made"
        case .invalidProxy: "the proxy's address cannot be used"
        case .refusedByProxy(let status): "the proxy makes no connection to the host (status \(status))"
        case .insecure: "no trusted TLS connection could be made"
        case .timedOut(.lookup): "the host's name took too long to look up"
        case .timedOut(.connect): "the connection took too long"
        case .timedOut(.firstByte): "the server took too long to answer"
        case .timedOut(.idle): "the server stopped sending"
        case .timedOut(.total): "the whole transfer took too long"
        case .truncated(let expected?, let received):
            "the connection ended after \(received) of \(expected) bytes"
        case .truncated(nil, let received): "the connection ended early, after \(received) bytes"
        case .connectionLost: "the connection ended before the server had answered"
        case .bodyTooLarge(let limit): "the body is larger than the limit of \(limit) bytes"
        case .headerTooLarge(let limit): "the response header is larger than the limit of \(limit) bytes"
        case .invalidResponse: "the server's answer is not valid HTTP"
        case .tooManyRedirects(let limit): "more than \(limit) redirects"
        case .redirectRefused: "redirected to something that is no http or https URL"
        case .insecureRedirect: "redirected from https to http, which is refused"
        case .authenticationFailed: "the credential was not accepted"
        case .refusedByPolicy(let refusal): "not allowed by the network policy (\(refusal))"
        case .notCached: "there is no stored response, and the origin was not to be asked"
        case .cancelled: "cancelled"
        case .other(let code): "the transfer failed (libcurl error \(code))"
        }
    }
}

extension String {
    /// Servers have a say in what stands in errors, which end up in terminals and logs: neither control characters nor
    /// those that turn the direction of text or end a line.
    fileprivate var withoutInvisibleCharacters: String {
        guard unicodeScalars.contains(where: \.isInvisible) else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.map { $0.isInvisible ? "?" : $0 }))
    }
}

extension Unicode.Scalar {
    fileprivate var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }
}
