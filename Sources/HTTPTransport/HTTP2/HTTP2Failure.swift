import HTTPTypes

/// The reason why an HTTP/2 connection cannot be used, or cannot be used for another request.
enum HTTP2Failure: Error, Equatable {
    /// The peer has violated the protocol. The code is among the bytes to send.
    case violation(HTTP2ErrorCode, String)
    /// The peer sends much that belongs to no response.
    case flood(String)
    /// No stream can be opened now.
    case noStream
    /// The fields of the request exceed the limit, in bytes; no other request is affected.
    case requestTooLarge(limit: Int)
    /// nghttp2 has failed, usually for lack of memory.
    case library(String)

    /// A description for the error of a request.
    var detail: String {
        switch self {
        // nghttp2 does not state a reason for each violation.
        case .violation(let code, ""): "the server violates HTTP/2: \(code)"
        case .violation(let code, let reason): "the server violates HTTP/2: \(code), \(reason)"
        case .flood: "endless data that belongs to no response"
        case .noStream: "no HTTP/2 stream can be opened"
        case .requestTooLarge(let limit): "a request of more than \(limit) bytes"
        case .library(let message): "nghttp2: \(message)"
        }
    }
}

/// The end of a stream, as a result of a request.
enum HTTP2StreamEnd: Equatable {
    /// The response is complete.
    case complete
    /// The peer has certainly not processed the request (RFC 9113, section 8.7), or it was not sent.
    case refused
    /// The peer requires HTTP/1.1 for the request.
    case requiresHTTP1
    /// The peer has ended the stream before the response was complete.
    case reset(HTTP2ErrorCode)
    /// The response was invalid, for the reason that nghttp2 states, and this side has ended the stream; the frames of the
    /// body had that many bytes.
    case invalid(HTTP2ErrorCode, String = "", announcedBytes: Int = 0)
}
