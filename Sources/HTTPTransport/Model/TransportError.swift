public import FoundationEssentials

/// The reason why a request got no complete response.
public struct TransportError: Error, Sendable, Hashable {
    /// The URL that failed, without user name and password; after redirects, the last URL.
    public let url: String
    /// The reason of the failure.
    public let reason: Reason
    /// A description of the cause, such as a message of libcurl, OpenSSL, or the system, if it adds information.
    public let detail: String?

    /// Creates an error for `url`.
    public init(url: String, reason: Reason, detail: String? = nil) {
        self.url = url.withoutInvisibleCharacters
        self.reason = reason
        self.detail = detail?.withoutInvisibleCharacters
    }

    /// A reason why a request can fail.
    public enum Reason: Sendable, Hashable {
        /// The text is not an http or https URL.
        case invalidURL
        /// The host does not exist, or has no address.
        case hostNotFound
        /// The host's name could not be resolved: the name servers gave no answer, or asked to try again.
        case lookupFailed
        /// The process or the system has no file descriptor left for the transfer.
        case tooManyOpenFiles
        /// The system cannot start the first thread of the transport, for example because the limit on threads is
        /// reached.
        case threadStartFailed
        /// No connection could be made.
        case connectionFailed
        /// The configured proxy cannot be used by libcurl.
        case invalidProxy
        /// The proxy responded with this status to the request for a tunnel to an https host.
        case refusedByProxy(status: Int)
        /// TLS could not be negotiated, or the certificate is not trusted.
        case tlsFailure
        /// A deadline passed.
        case timedOut(Deadlines.Kind)
        /// The connection ended before the response did; `expected` is the declared length of the body in bytes, if
        /// known.
        case truncated(expected: Int?, received: Int)
        /// The connection was lost before the response began.
        case connectionLost
        /// The body exceeds the request's limit, in bytes.
        case bodyTooLarge(limit: Int)
        /// The request, with its URL and header fields, exceeds the limit of HTTP/2 that this package or the server
        /// has, in bytes, and was not sent.
        case requestTooLarge(limit: Int)
        /// The response's header exceeds the limit, in bytes.
        case headerTooLarge(limit: Int)
        /// The response violates HTTP.
        case invalidResponse
        /// More redirects than allowed.
        case tooManyRedirects(limit: Int)
        /// A redirect to a URL that is not http or https.
        case unsupportedRedirect
        /// A redirect from https to http, which the request's ``RedirectPolicy`` forbids.
        case insecureRedirect
        /// The server does not accept the credential, the ``CredentialProvider`` threw an error, or the proxy requires
        /// a credential and none was accepted.
        ///
        /// Without a credential for the server, a response with status 401 is delivered as a response instead.
        case authenticationFailed
        /// The transport's ``NetworkPolicy`` forbids the URL, the target of a redirect, or every address of the host.
        case refusedByPolicy(PolicyRefusal)
        /// Only a stored response was requested, and there is none.
        case notCached
        /// The source of the URL's scheme has no image with this URL.
        case sourceNotFound
        /// The source does not give access to the image, for example because a path leads out of the folder.
        case sourceRefused
        /// The source cannot read the image, or throws an error of its own, which ``TransportError/detail`` describes.
        case sourceFailed
        /// ``Transfer/cancel()`` was called, or the transport was shut down.
        case cancelled
        /// Another error of libcurl, as its `CURLcode`.
        case other(code: Int)
    }

    /// A Boolean value that indicates whether the same request may succeed later.
    public var isRetryable: Bool {
        switch reason {
        // All the time allowed for the download has been used.
        case .timedOut(.total): false
        case .connectionFailed, .timedOut, .truncated, .connectionLost, .lookupFailed, .tooManyOpenFiles,
            .threadStartFailed:
            true
        case .refusedByProxy(let status): status >= 500 || status == 408 || status == 429
        case .invalidURL, .hostNotFound, .invalidProxy, .tlsFailure, .requestTooLarge, .bodyTooLarge, .headerTooLarge,
            .invalidResponse, .tooManyRedirects, .unsupportedRedirect, .insecureRedirect, .authenticationFailed,
            .refusedByPolicy, .notCached, .cancelled,
            .sourceNotFound, .sourceRefused, .sourceFailed, .other:
            false
        }
    }
}

extension TransportError: CustomDebugStringConvertible {
    /// The same text as ``errorDescription``, so that a crash log names the URL.
    public var debugDescription: String { errorDescription ?? description }
}

extension TransportError: CustomStringConvertible {
    /// A sentence that describes the reason, without the URL.
    public var description: String {
        guard let detail else { return reason.sentence }
        return "\(reason.sentence) (\(detail))"
    }
}

extension TransportError: LocalizedError {
    /// The URL and a sentence that describes the failure.
    public var errorDescription: String? { "\(url): \(description)" }
}

extension TransportError.Reason {
    fileprivate var sentence: String {
        switch self {
        case .invalidURL: "not a valid http or https URL"
        case .hostNotFound: "the host is unknown"
        case .lookupFailed: "the host's name could not be looked up"
        case .tooManyOpenFiles: "too many files are open"
        case .threadStartFailed:
            "the system cannot start a thread for transfers; check the limits on threads and memory"
        case .connectionFailed: "no connection could be made"
        case .invalidProxy: "the configured proxy cannot be used"
        case .refusedByProxy(let status): "the proxy refused to connect to the host (status \(status))"
        case .tlsFailure: "no trusted TLS connection could be made"
        case .timedOut(.lookup): "the host's name took too long to look up"
        case .timedOut(.connect): "the connection took too long"
        case .timedOut(.firstByte): "the server took too long to respond"
        case .timedOut(.idle): "the server stopped sending"
        case .timedOut(.total): "the whole download took too long"
        case .truncated(let expected?, let received):
            "the connection ended after \(received) of \(expected) bytes"
        case .truncated(nil, let received): "the connection ended early, after \(received) bytes"
        case .connectionLost: "the connection was lost before the response began"
        case .bodyTooLarge(let limit): "the body is larger than the limit of \(limit) bytes"
        case .requestTooLarge(let limit):
            "the request, with its URL and header fields, is larger than the limit of \(limit) bytes"
        case .headerTooLarge(let limit): "the response header is larger than the limit of \(limit) bytes"
        case .invalidResponse: "the response is not valid HTTP"
        case .tooManyRedirects(let limit): "the server redirected more than \(limit) times"
        case .unsupportedRedirect: "redirected to a URL that is not http or https"
        case .insecureRedirect: "redirected from https to http, which is refused"
        case .authenticationFailed: "no credential was accepted"
        case .refusedByPolicy(let refusal): "not allowed by the network policy (\(refusal))"
        case .notCached: "there is no stored response, and the request does not allow network access"
        case .sourceNotFound: "there is no such image"
        case .sourceRefused: "access to the image is not allowed"
        case .sourceFailed: "the image cannot be read"
        case .cancelled: "the transfer was canceled"
        case .other(let code): "the transfer failed (libcurl error \(code))"
        }
    }
}

extension String {
    /// The string with its invisible characters replaced.
    ///
    /// Servers influence the content of errors, which is shown in terminals and logs, so control characters, line
    /// separators, and characters that change the direction of text are replaced with question marks.
    fileprivate var withoutInvisibleCharacters: String {
        guard unicodeScalars.contains(where: \.isInvisible) else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.map { $0.isInvisible ? "?" : $0 }))
    }
}

extension Unicode.Scalar {
    fileprivate var isInvisible: Bool {
        // Looking up the category takes much longer.
        if (0x20..<0x7F).contains(value) { return false }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }
}
