import HTTPTransport
import ImageCodecs

extension ImageError {
    /// A stable, machine-readable code for the reason of a failure.
    ///
    /// Messages can change between versions, but codes do not: use codes to count, store, and compare failures. The
    /// library uses only the codes declared here; an application can define more for its own failures.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The code as text, such as `host_not_found`.
        public let rawValue: String

        /// Creates a code from its text.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The code as text.
        public var description: String { rawValue }
    }

    /// The stable code of the failure.
    public var code: Code {
        switch self {
        case .invalidURL: .invalidURL
        case .transport(let error): Code(error.reason)
        case .status(let head, _): .status(head.status.code)
        case .notModified: .notModified
        case .unacceptableType: .unacceptableType
        case .rejected: .refused
        case .emptyBody: .emptyBody
        case .digestMismatch: .hashMismatch
        case .unavailableDigest: .other
        case .codec(let error, _, _): Code(error)
        case .unsuitable(let violation, _): Code(violation)
        case .unusableCacheFolder: .cacheFolder
        case .overloaded: .overloaded
        case .shutDown: .cancelled
        }
    }
}

extension ImageError.Code {
    /// `invalid_url`: the text is not an http or https URL.
    public static let invalidURL = Self(rawValue: "invalid_url")
    /// `host_not_found`: the host does not exist, or has no address.
    public static let hostNotFound = Self(rawValue: "host_not_found")
    /// `dns_temporary`: the host's name could not be resolved; a later attempt may succeed.
    public static let temporaryLookupFailure = Self(rawValue: "dns_temporary")
    /// `connection_failed`: no connection could be made.
    public static let connectionFailed = Self(rawValue: "connection_failed")
    /// `connection_lost`: the connection was lost before the response began.
    public static let connectionLost = Self(rawValue: "connection_lost")
    /// `tls`: TLS could not be negotiated, or the certificate is not trusted.
    public static let tls = Self(rawValue: "tls")
    /// `timeout_lookup`: the host's name was not resolved within ``Deadlines/lookup``.
    public static let lookupTimeout = Self(rawValue: "timeout_lookup")
    /// `timeout_connect`: no connection was established within ``Deadlines/connect``.
    public static let connectTimeout = Self(rawValue: "timeout_connect")
    /// `timeout_first_byte`: the response did not begin within ``Deadlines/firstByte``.
    public static let firstByteTimeout = Self(rawValue: "timeout_first_byte")
    /// `timeout_idle`: the next part of the response did not arrive within ``Deadlines/idle``.
    public static let idleTimeout = Self(rawValue: "timeout_idle")
    /// `deadline`: the time limit for the whole download passed; see ``DownloadConfiguration/deadlines``.
    public static let deadline = Self(rawValue: "deadline")
    /// `truncated`: the connection ended before the response did.
    public static let truncated = Self(rawValue: "truncated")
    /// `invalid_response`: the response violates HTTP, or its header is too long.
    public static let invalidResponse = Self(rawValue: "invalid_response")
    /// `redirects`: there were more redirects than allowed.
    public static let redirects = Self(rawValue: "redirects")
    /// `redirect_refused`: a redirect to a URL that is not http or https, or from https to http if that is not allowed.
    public static let unsupportedRedirect = Self(rawValue: "redirect_refused")
    /// `auth`: the server did not accept the credential, the ``CredentialProvider`` threw an error, or the proxy
    /// requires a credential and none was accepted.
    ///
    /// Without a credential, the error of a response with status 401 is `http_401`.
    public static let authentication = Self(rawValue: "auth")
    /// `policy`: refused by the ``NetworkPolicy``.
    public static let policy = Self(rawValue: "policy")
    /// `proxy`: the proxy cannot be used, or refuses to connect to the host.
    public static let proxy = Self(rawValue: "proxy")
    /// `too_many_bytes`: the body is larger than allowed.
    public static let tooManyBytes = Self(rawValue: "too_many_bytes")
    /// `empty_body`: the response has no body.
    public static let emptyBody = Self(rawValue: "empty_body")
    /// `hash_mismatch`: the body does not have the digest ``ImageRequest/expectedDigest``.
    public static let hashMismatch = Self(rawValue: "hash_mismatch")
    /// `unacceptable_type`: the media type is not one of ``DownloadConfiguration/acceptedContentTypes``.
    public static let unacceptableType = Self(rawValue: "unacceptable_type")
    /// `not_modified`: the image still has the version of ``ImageRequest/knownVersion``.
    public static let notModified = Self(rawValue: "not_modified")
    /// `not_cached`: only a stored response was requested, and there is none.
    public static let notCached = Self(rawValue: "not_cached")
    /// `source_not_found`: the ``URLSource`` has no such image.
    public static let sourceNotFound = Self(rawValue: "source_not_found")
    /// `source_refused`: the ``URLSource`` does not give access to the image.
    public static let sourceRefused = Self(rawValue: "source_refused")
    /// `source_failed`: the ``URLSource`` cannot read the image.
    public static let sourceFailed = Self(rawValue: "source_failed")
    /// `cache_folder`: the folder of a ``ResponseCache`` cannot be used.
    public static let cacheFolder = Self(rawValue: "cache_folder")
    /// `refused`: a hook of the application rejected the request or its response.
    public static let refused = Self(rawValue: "refused")
    /// `not_an_image`: the body is not an image.
    public static let notAnImage = Self(rawValue: "not_an_image")
    /// `corrupt`: the file violates its format.
    public static let corrupt = Self(rawValue: "corrupt")
    /// `truncated_image`: the file ends before its image is complete, although the response was complete.
    public static let truncatedImage = Self(rawValue: "truncated_image")
    /// `unsupported`: the image has a format, or uses a feature of its format, that is not supported.
    public static let unsupported = Self(rawValue: "unsupported")
    /// `too_many_pixels`: the image has more pixels, or needs more memory, than allowed.
    public static let tooManyPixels = Self(rawValue: "too_many_pixels")
    /// `too_many_frames`: the animation has more frames than allowed.
    public static let tooManyFrames = Self(rawValue: "too_many_frames")
    /// `too_small`: the image is smaller than ``ImageRequirements/minimumSide``.
    public static let tooSmall = Self(rawValue: "too_small")
    /// `too_large`: the image is larger than ``ImageRequirements/maximumSide`` or ``ImageRequirements/maximumPixels``.
    public static let tooLarge = Self(rawValue: "too_large")
    /// `aspect_ratio`: the aspect ratio exceeds ``ImageRequirements/maximumAspectRatio``.
    public static let aspectRatio = Self(rawValue: "aspect_ratio")
    /// `unwanted_format`: the format is not one of ``ImageRequirements/formats``.
    public static let unwantedFormat = Self(rawValue: "unwanted_format")
    /// `too_many_open_files`: the process has reached its limit on open files.
    public static let tooManyOpenFiles = Self(rawValue: "too_many_open_files")
    /// `overloaded`: too many downloads wait already; see ``DownloadConfiguration/maximumWaitingDownloads``.
    public static let overloaded = Self(rawValue: "overloaded")
    /// `encode`: the image cannot be written in the requested format.
    public static let encode = Self(rawValue: "encode")
    /// `transform`: a transformation cannot be applied to the image.
    public static let transform = Self(rawValue: "transform")
    /// `cancelled`: the request was canceled, or the loader was shut down.
    public static let cancelled = Self(rawValue: "cancelled")
    /// `other`: any other reason.
    public static let other = Self(rawValue: "other")

    /// `http_NNN`: the server responded with this status, which is not accepted.
    public static func status(_ status: Int) -> Self { Self(rawValue: "http_\(status)") }

    init(_ reason: TransportError.Reason) {
        self =
            switch reason {
            case .invalidURL: .invalidURL
            case .hostNotFound: .hostNotFound
            case .lookupFailed: .temporaryLookupFailure
            case .connectionFailed: .connectionFailed
            case .connectionLost: .connectionLost
            case .tlsFailure: .tls
            case .timedOut(.lookup): .lookupTimeout
            case .timedOut(.connect): .connectTimeout
            case .timedOut(.firstByte): .firstByteTimeout
            case .timedOut(.idle): .idleTimeout
            case .timedOut(.total): .deadline
            case .truncated: .truncated
            case .headerTooLarge, .invalidResponse: .invalidResponse
            case .tooManyRedirects: .redirects
            case .unsupportedRedirect, .insecureRedirect: .unsupportedRedirect
            case .authenticationFailed: .authentication
            case .refusedByPolicy: .policy
            case .invalidProxy, .refusedByProxy: .proxy
            case .bodyTooLarge: .tooManyBytes
            case .notCached: .notCached
            case .sourceNotFound: .sourceNotFound
            case .sourceRefused: .sourceRefused
            case .sourceFailed: .sourceFailed
            case .cancelled: .cancelled
            case .tooManyOpenFiles: .tooManyOpenFiles
            case .threadStartFailed, .requestTooLarge, .other: .other
            }
    }

    /// Creates the code of any error of a download.
    init(_ error: any Error) {
        self =
            switch error {
            case let error as ImageError: error.code
            case is CancellationError: .cancelled
            default: .other
            }
    }

    fileprivate init(_ violation: ImageRequirements.Violation) {
        self =
            switch violation {
            case .tooSmall: .tooSmall
            case .tooLarge, .tooManyPixels: .tooLarge
            case .aspectRatio: .aspectRatio
            case .format: .unwantedFormat
            case .tooManyFrames: .tooManyFrames
            }
    }

    /// Creates the code of an error of a decoder or an encoder.
    package init(_ error: CodecError) {
        self =
            switch error {
            case .notAnImage: .notAnImage
            case .truncated: .truncatedImage
            case .corrupt, .zeroPixels, .overLimit(.headerBytes, _, _), .overLimit(.scans, _, _): .corrupt
            case .unsupportedFormat, .unsupportedFeature: .unsupported
            case .overLimit(.pixels, _, _), .overLimit(.side, _, _), .overLimit(.memory, _, _),
                .overLimit(.work, _, _), .outOfMemory:
                .tooManyPixels
            case .overLimit(.bytes, _, _): .tooManyBytes
            case .overLimit(.frames, _, _): .tooManyFrames
            case .encodingFailed: .encode
            case .transformationFailed: .transform
            case .decoderFault: .other
            case .cancelled: .cancelled
            }
    }
}

extension ImageError.Code {
    /// All codes except those of statuses.
    static let declared: [Self] = [
        .invalidURL, .hostNotFound, .temporaryLookupFailure, .connectionFailed, .connectionLost, .tls,
        .lookupTimeout, .connectTimeout, .firstByteTimeout, .idleTimeout, .deadline, .truncated, .invalidResponse,
        .redirects, .unsupportedRedirect, .authentication, .policy, .proxy, .tooManyBytes, .emptyBody,
        .hashMismatch, .unacceptableType, .notModified, .notCached, .cacheFolder, .refused, .notAnImage, .corrupt,
        .truncatedImage, .unsupported, .tooManyPixels, .tooManyFrames, .tooSmall, .tooLarge, .aspectRatio,
        .unwantedFormat, .tooManyOpenFiles, .overloaded, .sourceNotFound, .sourceRefused, .sourceFailed, .transform,
        .encode, .cancelled, .other,
    ]

    /// The codes of the statuses that servers send most often instead of images.
    static let ofCommonStatuses: [Self] = [400, 401, 403, 404, 408, 410, 429, 500, 502, 503, 504].map(status)
}
