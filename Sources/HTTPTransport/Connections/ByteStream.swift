/// The bytes of a connection: those of its socket, or those that TLS protects.
enum ByteStream {
    case plain(Socket)
    case secure(TLSConnection)

    var descriptor: Int32 { socket.descriptor }

    private var socket: Socket {
        switch self {
        case .plain(let socket): socket
        case .secure(let tls): tls.socket
        }
    }

    /// Sends as many of `bytes` as possible.
    func send(_ bytes: Span<UInt8>) -> SocketResult {
        switch self {
        case .plain(let socket): socket.send(bytes)
        case .secure(let tls): tls.send(bytes)
        }
    }

    /// Receives at most as many bytes as `buffer` has.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> SocketResult {
        switch self {
        case .plain(let socket): unsafe socket.receive(into: buffer)
        case .secure(let tls): unsafe tls.receive(into: buffer)
        }
    }

    /// Receives at most as many bytes as `output` has room for, and appends them.
    func receive(into output: inout OutputSpan<UInt8>) -> SocketResult {
        unsafe output.withUnsafeMutableBufferPointer { buffer, count in
            let free = unsafe UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[count...]))
            let result = unsafe receive(into: free)
            if case .count(let received) = result { count += received }
            return result
        }
    }

    /// A Boolean value that indicates whether bytes have left the socket that have not been received, which the poller
    /// does not report.
    var hasReceivedBytes: Bool {
        if case .secure(let tls) = self { tls.hasReceivedBytes } else { false }
    }

    /// A Boolean value that indicates whether the connection is open and no byte of a response has arrived.
    var isSilent: Bool {
        switch self {
        case .plain(let socket): socket.isSilent
        case .secure(let tls): tls.isSilent
        }
    }

    /// The failure of TLS that ended the connection, if there was one.
    var failure: TLSFailure? {
        if case .secure(let tls) = self { tls.failure } else { nil }
    }

    /// Sets the number of received bytes from which the poller reports the socket as readable.
    func setMinimumCount(_ count: Int) { socket.setMinimumCount(count) }

    /// Closes the connection.
    func close() {
        if case .secure(let tls) = self { tls.close() }
        socket.close()
    }
}
