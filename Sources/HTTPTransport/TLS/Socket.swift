import Glibc

private let noSignal = Int32(MSG_NOSIGNAL)
private let peek = Int32(MSG_PEEK)

/// The result of an operation on a socket.
enum SocketResult {
    /// A number of bytes were sent or received; zero received bytes are the end of the connection.
    case count(Int)
    /// Nothing can be sent or received now.
    case wouldBlock
    /// The operation failed with an error of the system.
    case failed(Int32)

    fileprivate init(_ count: Int) {
        self =
            if count >= 0 {
                .count(count)
            } else if errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR {
                .wouldBlock
            } else {
                .failed(errno)
            }
    }
}

/// The operations of a connected socket that does not block, by its descriptor.
///
/// The descriptor's owner closes it.
struct Socket {
    let descriptor: Int32

    /// Sends as many of `bytes` as possible.
    func send(_ bytes: Span<UInt8>) -> SocketResult {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe SocketResult(Glibc.send(descriptor, bytes.baseAddress, bytes.count, noSignal))
        }
    }

    /// Receives at most as many bytes as `buffer` has.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> SocketResult {
        unsafe SocketResult(recv(descriptor, buffer.baseAddress, buffer.count, 0))
    }

    /// Sets the number of received bytes from which the socket is reported to be readable.
    ///
    /// The end of the connection and errors are always reported, and reading is possible at any time. If the system
    /// does not allow it, the socket is readable with the first byte.
    func setMinimumCount(_ count: Int) {
        var count = Int32(clamping: count)
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_RCVLOWAT, &count, socklen_t(MemoryLayout.size(ofValue: count)))
    }

    /// A Boolean value that indicates whether the connection is open and nothing has arrived.
    var isSilent: Bool {
        var byte: UInt8 = 0
        if case .wouldBlock = unsafe SocketResult(recv(descriptor, &byte, 1, peek)) { return true }
        return false
    }

    /// Closes the socket.
    func close() {
        _ = Glibc.close(descriptor)
    }
}
