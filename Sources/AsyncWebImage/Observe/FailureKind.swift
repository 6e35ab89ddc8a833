import HTTPTransport

/// The reason of a failed download as a value of a metric's dimension or a span's attribute.
enum FailureKind: String, CaseIterable {
    case status3xx = "status_3xx"
    case status4xx = "status_4xx"
    case status5xx = "status_5xx"
    case statusOther = "status_other"
    case unacceptableType = "unacceptable_type"
    case emptyBody = "empty_body"
    case rejected
    case hostNotFound = "host_not_found"
    case lookupFailed = "lookup_failed"
    case tooManyOpenFiles = "too_many_open_files"
    case threadStartFailed = "thread_start_failed"
    case connectionFailed = "connection_failed"
    case connectionLost = "connection_lost"
    case tlsFailure = "tls"
    case timedOut = "timed_out"
    case truncated
    case tooLarge = "too_large"
    case invalidResponse = "invalid_response"
    case redirect
    case authenticationFailed = "authentication_failed"
    case policy
    case notCached = "not_cached"
    case other

    init(_ error: any Error) {
        switch error as? ImageError {
        case .transport(let error)?: self.init(error.reason)
        case .status(let head, _)?:
            self =
                switch head.status.code {
                case 300...399: .status3xx
                case 400...499: .status4xx
                case 500...599: .status5xx
                default: .statusOther
                }
        case .notModified?: self = .status3xx
        case .unacceptableType?: self = .unacceptableType
        case .emptyBody?: self = .emptyBody
        case .rejected?: self = .rejected
        case .invalidURL?, .digestMismatch?, .unavailableDigest?, .codec?, .unsuitable?, .unusableCacheFolder?,
            .shutDown?, nil:
            self = .other
        }
    }

    private init(_ reason: TransportError.Reason) {
        self =
            switch reason {
            case .hostNotFound: .hostNotFound
            case .lookupFailed: .lookupFailed
            case .tooManyOpenFiles: .tooManyOpenFiles
            case .threadStartFailed: .threadStartFailed
            case .connectionFailed, .refusedByProxy: .connectionFailed
            case .connectionLost: .connectionLost
            case .tlsFailure: .tlsFailure
            case .timedOut: .timedOut
            case .truncated: .truncated
            case .bodyTooLarge, .headerTooLarge: .tooLarge
            case .invalidResponse: .invalidResponse
            case .tooManyRedirects, .unsupportedRedirect, .insecureRedirect: .redirect
            case .authenticationFailed: .authenticationFailed
            case .refusedByPolicy: .policy
            case .notCached: .notCached
            case .invalidURL, .invalidProxy, .cancelled, .other: .other
            }
    }
}
