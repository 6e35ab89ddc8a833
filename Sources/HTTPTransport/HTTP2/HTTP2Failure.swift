/// The reason why an HTTP/2 connection cannot be used, or cannot be used for another request.
enum HTTP2Failure: Error, Equatable {
    /// The peer has violated the protocol. The code is among the bytes to send.
    case violation(HTTP2ErrorCode, String)
    /// The peer sends much that belongs to no response.
    case flood(String)
    /// No stream can be opened now.
    case noStream
    /// nghttp2 has failed, usually for lack of memory.
    case library(String)
}

/// The end of a stream, as a result of a request.
enum HTTP2StreamEnd: Equatable {
    /// The response is complete.
    case complete
    /// The peer has certainly not processed the request (RFC 9113, section 8.7).
    case refused
    /// The peer has ended the stream before the response was complete.
    case reset(HTTP2ErrorCode)
    /// The response was invalid, and this side has ended the stream.
    case invalid(HTTP2ErrorCode)
}

/// The reason for the end of a stream or connection (RFC 9113, section 7).
struct HTTP2ErrorCode: RawRepresentable, Hashable {
    let rawValue: UInt32

    static let noError = Self(rawValue: 0x0)
    static let protocolError = Self(rawValue: 0x1)
    static let internalError = Self(rawValue: 0x2)
    static let flowControlError = Self(rawValue: 0x3)
    static let frameSizeError = Self(rawValue: 0x6)
    static let refusedStream = Self(rawValue: 0x7)
    static let cancel = Self(rawValue: 0x8)
    static let compressionError = Self(rawValue: 0x9)
    static let enhanceYourCalm = Self(rawValue: 0xB)
    static let http11Required = Self(rawValue: 0xD)
}
