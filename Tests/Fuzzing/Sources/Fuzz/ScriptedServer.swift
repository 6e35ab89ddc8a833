import Foundation

/// A server on 127.0.0.1 that responds with given bytes, regardless of the request.
///
/// It serves one connection after the other, on a thread of its own.
///
/// `@unchecked Sendable`: a lock protects the script.
final class ScriptedServer: @unchecked Sendable {
    let port: Int
    private let socket: Int32
    private let lock = NSLock()
    private var answers: [[UInt8]] = []
    private var isWrittenByBytes = false
    private var heads: [[UInt8]] = []

    static let shared = ScriptedServer()

    private init() {
        socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (socket, size) = (socket, length)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, size) == 0 && listen(socket, 64) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        precondition(isBound, "no socket to listen on")
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [self] in
            while true {
                let connection = accept(socket, nil, nil)
                guard connection >= 0 else { continue }
                serve(connection)
                close(connection)
            }
        }
    }

    /// Answers the following requests with `answers`, in order; then closes each connection.
    func answer(by answers: [[UInt8]], byteByByte: Bool = false) {
        lock.withLock {
            self.answers = answers
            isWrittenByBytes = byteByByte
            heads = []
        }
    }

    /// The requests since the last script.
    var requestHeads: [[UInt8]] { lock.withLock { heads } }

    private func serve(_ connection: Int32) {
        // The first request arrives after the connection is accepted; the next one, if any, after the response.
        var patience: Int32 = 500
        while isReadable(connection, within: patience) {
            guard let head = readHead(connection) else { return }
            patience = 4
            let answer = lock.withLock { () -> (bytes: [UInt8], byteByByte: Bool)? in
                heads.append(head)
                return answers.isEmpty ? nil : (answers.removeFirst(), isWrittenByBytes)
            }
            guard let answer else { return }
            let slow = answer.byteByByte ? answer.bytes.prefix(400) : []
            for byte in slow { _ = send(connection, [byte], 1, Int32(MSG_NOSIGNAL)) }
            let rest = Array(answer.bytes[slow.count...])
            guard rest.isEmpty || send(connection, rest, rest.count, Int32(MSG_NOSIGNAL)) == rest.count else { return }
        }
    }

    /// Returns the data received up to a blank line, or until no more arrives; `nil` at the end of the connection.
    private func readHead(_ connection: Int32) -> [UInt8]? {
        var head: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        repeat {
            let count = recv(connection, &piece, piece.count, 0)
            guard count > 0 else { return nil }
            head += piece[..<count]
        } while !head.suffix(4).elementsEqual([13, 10, 13, 10]) && isReadable(connection, within: 4)
        return head
    }

    private func isReadable(_ connection: Int32, within milliseconds: Int32) -> Bool {
        var status = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
        return poll(&status, 1, milliseconds) > 0
    }
}
