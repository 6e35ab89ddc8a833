public import FoundationEssentials
import HTTPTypes

/// The reason why an image could not be loaded.
///
/// A canceled caller gets Swift's `CancellationError` instead.
public enum ImageError: Error, Sendable {
    /// A kind of hook that an application can install.
    public enum Hook: String, Sendable, Hashable {
        /// A ``RequestModifier``.
        case requestModifier
        /// A ``ResponseValidator``.
        case responseValidator
        /// A ``BodyTransform``.
        case bodyTransform
    }

    /// The text is neither an http or https URL nor one of a source (``URLSource``); any user name and password are removed from it.
    case invalidURL(String)
    /// There was no complete response.
    case transport(TransportError)
    /// The server responded with a status outside ``DownloadConfiguration/acceptedStatuses``; `text` is the beginning
    /// of a textual body.
    case status(ResponseHead, text: String)
    /// The version in ``ImageRequest/knownVersion`` is still current.
    case notModified(ResponseHead)
    /// The type of the response is not among ``DownloadConfiguration/acceptedContentTypes``.
    case unacceptableType(ResponseHead)
    /// A hook of the application rejected the request or its response; `cause` is the error it threw.
    case rejected(by: Hook, url: String, cause: any Error)
    /// The response has no body, because it is empty or its status is 204.
    case emptyBody(ResponseHead)
    /// The body does not have the digest ``ImageRequest/expectedDigest``; `from` is the source of the body.
    case digestMismatch(ResponseHead, expected: BodyDigest, actual: BodyDigest, from: ResponseSource)
    /// OpenSSL does not provide the algorithm of ``ImageRequest/expectedDigest``, for example MD5 in FIPS mode.
    case unavailableDigest(BodyDigest.Algorithm)
    /// The body cannot be decoded; `partial` is the decoded part of a truncated or corrupt image.
    ///
    /// The error keeps the pixels in memory. With ``DecodeOptions/allowsPartial``, the decoded part is returned instead
    /// of thrown.
    case codec(CodecError, url: String, partial: DecodedImage? = nil)
    /// The image does not meet ``ImageRequest/requirements``.
    case unsuitable(ImageRequirements.Violation, url: String)
    /// The folder of a ``ResponseCache`` cannot be created or used; `reason` is the system's error message.
    case unusableCacheFolder(path: String, reason: String)
    /// Too many downloads wait already (``DownloadConfiguration/maximumWaitingDownloads``), or this one has waited too
    /// long (``DownloadConfiguration/maximumQueueTime``).
    ///
    /// `retryAfter` is the time for which downloads wait at present, in whole seconds: from 1 to 60.
    case overloaded(retryAfter: Duration, url: String)
    /// The loader was shut down (``ImageLoader/shutdown(gracePeriod:)``) before or during the request.
    case shutDown

    /// A Boolean value that indicates whether the same request may succeed later.
    ///
    /// It is `true` for temporary transport failures (``TransportError/isRetryable``), for the statuses 408, 425, 429,
    /// and 500 or higher, and for ``overloaded(retryAfter:url:)``, which the loader itself does not retry.
    public var isRetryable: Bool {
        switch self {
        case .transport(let error): error.isRetryable
        case .status(let head, _):
            [408, 425, 429].contains(head.status.code) || head.status.code >= 500
        case .overloaded: true
        case .invalidURL, .notModified, .unacceptableType, .rejected, .emptyBody, .digestMismatch, .unavailableDigest,
            .codec, .unsuitable, .unusableCacheFolder, .shutDown:
            false
        }
    }

    /// The HTTP status of a response that was not accepted.
    public var httpStatus: Int? {
        guard case .status(let head, _) = self else { return nil }
        return head.status.code
    }
}

extension ImageError {
    /// The URL that failed, without user name and password.
    ///
    /// After redirects, it is the requested URL for ``codec(_:url:partial:)`` and ``unsuitable(_:url:)``, and usually
    /// the last URL for other errors. It is `nil` for ``unavailableDigest(_:)``,
    /// ``unusableCacheFolder(path:reason:)``, and ``shutDown``.
    public var url: String? {
        switch self {
        case .transport(let error): error.url
        case .invalidURL(let url), .rejected(_, let url, _), .codec(_, let url, _), .unsuitable(_, let url),
            .overloaded(_, let url):
            url
        case .status, .notModified, .unacceptableType, .emptyBody, .digestMismatch, .unavailableDigest,
            .unusableCacheFolder, .shutDown:
            head?.url.string
        }
    }

    /// The head of the response that was not accepted.
    package var head: ResponseHead? {
        switch self {
        case .status(let head, _), .notModified(let head), .unacceptableType(let head), .emptyBody(let head),
            .digestMismatch(let head, _, _, _):
            head
        case .invalidURL, .transport, .rejected, .unavailableDigest, .codec, .unsuitable, .unusableCacheFolder,
            .overloaded, .shutDown:
            nil
        }
    }
}

extension ImageError: LocalizedError {
    /// The URL or the folder, if there is one, and a sentence that describes the failure.
    public var errorDescription: String? {
        switch self {
        case .unusableCacheFolder(let path, _): "\(path): \(description)"
        default: url.map { "\($0): \(description)" } ?? description
        }
    }
}

extension ImageError: CustomDebugStringConvertible {
    /// The same text as ``errorDescription``, so that a crash log names the URL.
    public var debugDescription: String { errorDescription ?? description }
}

extension ImageError: CustomStringConvertible {
    /// A sentence that describes the error, without the URL.
    public var description: String {
        switch self {
        case .invalidURL(let text):
            text.unsupportedScheme.map { "URLs of the scheme \($0) are not supported" }
                ?? "not a valid http or https URL"
        case .transport(let error): error.description
        case .status(let head, _):
            "the server responded with \(head.status.code) \(head.status.reasonPhrase)"
                .trimmingTrailingSpace
        case .notModified: "the version that the caller has is current"
        case .unacceptableType(let head):
            head.response.headerFields[.contentType].map { "the content type \($0) is not accepted" }
                ?? "the response has no content type"
        case .rejected(let hook, _, let cause): "rejected by the application's \(hook.words): \(cause)"
        case .emptyBody: "the response has an empty body"
        case .digestMismatch(_, let expected, let actual, let source):
            "the \(actual.algorithm) digest of the body is \(actual.hexadecimal) instead of \(expected.hexadecimal): "
                + (source.isStored
                    ? "the stored response may be outdated; load it with the cache policy reload"
                    : "the file has changed or is another one; check the URL and the expected digest")
        case .unavailableDigest(let algorithm):
            "the installed OpenSSL does not provide \(algorithm); use a digest of another algorithm"
        case .codec(let error, _, _): error.description
        case .unsuitable(let violation, _): violation.description
        case .unusableCacheFolder(_, let reason): "the cache folder cannot be used: \(reason)"
        case .overloaded(let time, _):
            "too many downloads wait already; try again after \(time.components.seconds) s"
        case .shutDown: "the image loader is shut down"
        }
    }
}

extension ImageError.Hook {
    fileprivate var words: String {
        switch self {
        case .requestModifier: "request modifier"
        case .responseValidator: "response validator"
        case .bodyTransform: "body transform"
        }
    }
}

extension String {
    /// The scheme of an absolute URL, unless it is http or https (RFC 3986, section 3.1).
    fileprivate var unsupportedScheme: String? {
        let scheme = prefix { $0 != ":" }
        let isScheme =
            scheme.endIndex != endIndex && scheme.first.map { $0.isASCII && $0.isLetter } == true
            && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        guard isScheme, !["http", "https"].contains(scheme.lowercased()) else { return nil }
        return String(scheme)
    }

    fileprivate var trimmingTrailingSpace: String { hasSuffix(" ") ? String(dropLast()) : self }
}
