import Foundation

private let streamSocket = Int32(SOCK_STREAM.rawValue)

/// A blocking TCP client that returns the bytes exactly as received.
///
/// Its blocking calls run on a queue of their own, so that tests may hold a gate meanwhile.
final class RawClient: Sendable {
    /// The end of a connection.
    enum End: Equatable {
        case finished
        case reset
        /// Nothing was received for half a minute. A read without a limit would block its thread forever.
        case timedOut
    }

    private let socket: Int32
    private let queue = DispatchQueue(label: "RawClient")

    init(port: Int, receiveBuffer: Int32? = nil) throws {
        socket = Foundation.socket(AF_INET, streamSocket, 0)
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if var size = receiveBuffer {
            setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { Foundation.close(socket) }

    /// Sends `text` unchanged.
    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Foundation.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Sends a GET of `path` without a body.
    func get(_ path: String, headerFields: String = "") {
        send("GET \(path) HTTP/1.1\r\nHost: test\r\n\(headerFields)\r\n")
    }

    /// Reads until at least `count` bytes have been received.
    func read(atLeast count: Int) async -> String {
        await onQueue { [self] in text(of: receive { $0.count >= count }.bytes) }
    }

    /// Reads until the received data ends with `suffix`.
    func read(through suffix: String) async -> String {
        let suffix = Array(suffix.utf8)
        return await onQueue { [self] in text(of: receive { $0.suffix(suffix.count).elementsEqual(suffix) }.bytes) }
    }

    /// Reads until the other side closes the connection.
    func readToEnd() async -> (text: String, end: End) {
        await onQueue { [self] in
            let (bytes, end) = receive { _ in false }
            return (text(of: bytes), end ?? .finished)
        }
    }

    /// The bytes that have arrived by now and were not read.
    func unreadCount() -> Int {
        var count: Int32 = 0
        return ioctl(socket, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
    }

    private func receive(until isEnough: ([UInt8]) -> Bool) -> (bytes: [UInt8], end: End?) {
        var all: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while !isEnough(all) {
            let count = recv(socket, &part, part.count, 0)
            if count > 0 {
                all += part[..<count]
            } else {
                return (all, count == 0 ? .finished : errno == EAGAIN ? .timedOut : .reset)
            }
        }
        return (all, nil)
    }

    private func text(of bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private func onQueue<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }
}
