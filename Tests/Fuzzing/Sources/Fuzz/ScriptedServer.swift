import Foundation

/// The protocol that a server speaks.
enum ServerProtocol {
    case plain
    case http1OverTLS
    case http2
}

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
    private var spoken = ServerProtocol.plain
    /// The number of scripts so far: a connection of an earlier one is not answered.
    private var scriptCount = 0
    private var heads: [[UInt8]] = []
    private let http1Settings: ServerSettings
    private let http2Settings: ServerSettings
    /// The file of the certificate.
    let certificateFile = folder + "/certificate"

    static let shared = ScriptedServer()

    private init() {
        let certificate = TestCertificate("127.0.0.1", names: "IP:127.0.0.1")
        write(Array(certificate.pem.utf8), to: certificateFile)
        http1Settings = ServerSettings(certificate, chosenProtocol: "http/1.1")
        http2Settings = ServerSettings(certificate, chosenProtocol: "h2")
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
    func answer(by answers: [[UInt8]], byteByByte: Bool = false, in spoken: ServerProtocol = .plain) {
        lock.withLock {
            self.answers = answers
            isWrittenByBytes = byteByByte
            self.spoken = spoken
            scriptCount += 1
            heads = []
        }
    }

    /// The requests since the last script.
    var requestHeads: [[UInt8]] { lock.withLock { heads } }

    private func serve(_ connection: Int32) {
        let (chosen, script) = lock.withLock { (spoken, scriptCount) }
        let settings =
            switch chosen {
            case .plain: ServerSettings?.none
            case .http1OverTLS: http1Settings
            case .http2: http2Settings
            }
        let stream = ServerStream(connection, settings)
        guard stream.begin() else { return }
        serve(stream, script)
        stream.announceEnd()
    }

    private func serve(_ stream: ServerStream, _ script: Int) {
        // The first request arrives after the connection is accepted; the next one, if any, after the response.
        var patience: Int32 = 500
        while stream.isReadable(within: patience) {
            guard let head = readHead(stream) else { return }
            patience = 4
            let answer = lock.withLock { () -> (bytes: [UInt8], byteByByte: Bool)? in
                guard script == scriptCount else { return nil }
                heads.append(head)
                return answers.isEmpty ? nil : (answers.removeFirst(), isWrittenByBytes)
            }
            guard let answer else { return }
            let slow = answer.byteByByte ? answer.bytes.prefix(400) : []
            for byte in slow { _ = stream.send([byte]) }
            guard stream.send(Array(answer.bytes[slow.count...])) else { return }
        }
    }

    /// Returns the data received up to a blank line, or until no more arrives; `nil` at the end of the connection.
    private func readHead(_ stream: ServerStream) -> [UInt8]? {
        var head: [UInt8] = []
        repeat {
            guard let bytes = stream.receive() else { return nil }
            head += bytes
        } while !head.suffix(4).elementsEqual([13, 10, 13, 10]) && stream.isReadable(within: 4)
        return head
    }
}
