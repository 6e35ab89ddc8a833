/// The request of a transfer on a connection of this module, and its response.
enum Exchange {
    case handshake(TLSHandshake)
    case http1(HTTP1Connection)
    case http2(HTTP2Stream)

    /// A Boolean value that indicates whether it has ended, successfully or not.
    var hasEnded: Bool {
        switch self {
        case .handshake(let handshake): handshake.hasEnded
        case .http1(let connection): connection.hasEnded
        case .http2(let stream): stream.hasEnded
        }
    }

    /// The times when the connection was established; `nil` for a connection that was used before.
    var newConnection: ConnectionStart? {
        switch self {
        case .handshake: nil
        case .http1(let connection): connection.hasBeenIdle ? nil : connection.start
        case .http2(let stream): stream.isFirst ? stream.connection.start : nil
        }
    }

    /// A Boolean value that indicates whether the connection was used before.
    var reusesConnection: Bool {
        if case .handshake = self { false } else { newConnection == nil }
    }

    /// The time when the first byte of the response arrived.
    var firstByte: MonotonicInstant? {
        switch self {
        case .handshake: nil
        case .http1(let connection): connection.firstByte
        case .http2(let stream): stream.firstByte
        }
    }

    /// A Boolean value that indicates whether other transfers can share the connection.
    var isShared: Bool {
        if case .http2 = self { true } else { false }
    }

    /// The name of the protocol.
    var protocolName: String {
        switch self {
        case .http1(let connection): connection.reader.isVersion11 ? "HTTP/1.1" : "HTTP/1.0"
        case .http2: "HTTP/2"
        case .handshake: ""
        }
    }
}
