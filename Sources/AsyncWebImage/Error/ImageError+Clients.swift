import HTTPTransport
import ImageCodecs

// What a service tells its clients about the failure of an image that they have asked for.
extension ImageError {
    /// The HTTP status with which a service can answer the request of a client that has caused the error.
    ///
    /// It is 4xx if another image is needed, 502 or 504 if the server of the image has failed, 503 if the same request
    /// may succeed later, and otherwise 500. For ``overloaded(retryAfter:url:)``, send `Retry-After` as well.
    public var suggestedStatus: Int {
        switch self {
        case .invalidURL: 400
        case .transport(let error): error.reason.suggestedStatus
        case .status(let head, _): [404, 410].contains(head.status.code) ? head.status.code : 502
        case .notModified: 304
        case .rejected: 403
        case .unacceptableType, .emptyBody: 415
        case .digestMismatch: 502
        case .codec(let error, _, _): error.suggestedStatus
        case .unsuitable: 422
        case .overloaded, .shutDown: 503
        case .unavailableDigest, .unusableCacheFolder: 500
        }
    }

    /// A sentence for the clients of a service, which contains no URL, address, path, or text of a server.
    ///
    /// Write ``errorDescription`` to the log of the service.
    public var clientDescription: String {
        switch self {
        case .invalidURL: "The URL of the image is not valid."
        case .transport(let error): error.reason.clientDescription
        case .status(let head, _): "The server of the image responded with status \(head.status.code)."
        case .notModified: "The image has not changed."
        case .rejected: "The image is not allowed."
        case .unacceptableType, .emptyBody: "The server of the image did not send an image."
        case .digestMismatch: "The image is not the expected one."
        case .codec(let error, _, _): error.clientDescription
        case .unsuitable: "The image does not meet the requirements."
        case .overloaded, .shutDown: "The service is busy; try again later."
        case .unavailableDigest, .unusableCacheFolder: "The service has failed."
        }
    }
}

extension TransportError.Reason {
    fileprivate var suggestedStatus: Int {
        switch self {
        case .invalidURL: 400
        case .refusedByPolicy, .sourceRefused: 403
        case .sourceNotFound: 404
        case .bodyTooLarge: 413
        case .requestTooLarge: 414
        case .hostNotFound, .tooManyRedirects, .unsupportedRedirect, .insecureRedirect: 422
        case .lookupFailed, .tooManyOpenFiles, .threadStartFailed, .cancelled: 503
        // As of a cache that is asked for stored responses only (RFC 9111, section 5.2.1.7).
        case .timedOut, .notCached: 504
        case .connectionFailed, .connectionLost, .tlsFailure, .truncated, .headerTooLarge, .invalidResponse,
            .authenticationFailed, .invalidProxy, .refusedByProxy, .sourceFailed, .other:
            502
        }
    }

    fileprivate var clientDescription: String {
        switch self {
        case .invalidURL: "The URL of the image is not valid."
        case .refusedByPolicy, .sourceRefused: "The URL of the image is not allowed."
        case .sourceNotFound: "There is no such image."
        case .bodyTooLarge: "The image is too large."
        case .requestTooLarge: "The request for the image is too large."
        case .hostNotFound: "The server of the image does not exist."
        case .tooManyRedirects, .unsupportedRedirect, .insecureRedirect: "The URL of the image has unusable redirects."
        case .tooManyOpenFiles, .threadStartFailed, .cancelled: "The service is busy; try again later."
        case .timedOut: "The server of the image did not answer in time."
        case .notCached: "The image is not stored."
        case .lookupFailed, .connectionFailed, .connectionLost, .tlsFailure, .invalidProxy, .refusedByProxy:
            "The server of the image could not be reached."
        case .truncated, .headerTooLarge, .invalidResponse, .authenticationFailed, .sourceFailed, .other:
            "The server of the image did not send it correctly."
        }
    }
}

extension CodecError {
    fileprivate var suggestedStatus: Int {
        switch self {
        case .overLimit, .outOfMemory: 413
        case .transformationFailed: 422
        case .encodingFailed, .decoderFault: 500
        case .cancelled: 503
        case .notAnImage, .truncated, .corrupt, .zeroPixels, .unsupportedFormat, .unsupportedFeature: 415
        }
    }

    fileprivate var clientDescription: String {
        switch self {
        case .overLimit, .outOfMemory: "The image is too large."
        case .transformationFailed: "The image cannot be changed in this way."
        case .encodingFailed, .decoderFault, .cancelled: "The image could not be processed."
        case .notAnImage: "The file is not an image."
        case .truncated, .corrupt, .zeroPixels: "The image is damaged."
        case .unsupportedFormat, .unsupportedFeature: "The format of the image is not supported."
        }
    }
}
