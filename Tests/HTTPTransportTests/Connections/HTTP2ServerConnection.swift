import CNghttp2
import COpenSSL
import Glibc
import TestSupport

@testable import HTTPTransport

/// A connection of an ``HTTP2Server``; also speaks just enough of HTTP/1.1.
final class HTTP2ServerConnection {
    let number: Int
    let descriptor: Int32
    /// The side of HTTP/2 that takes the requests, and sends responses unless the connection is muted.
    let peer: HTTP2Peer
    /// A Boolean value that indicates whether only frames are sent that the test passes to ``send(_:)``.
    var isMuted = false
    /// A Boolean value that indicates whether nothing is read.
    var isStalled = false
    private(set) var isClosed = false
    private(set) weak var server: HTTP2Server?
    private let ssl: OpaquePointer
    private var outgoing: [UInt8] = []
    private var incoming: [UInt8] = []
    private var completedCount = 0
    private var isEstablished = false

    init(_ number: Int, _ descriptor: Int32, of server: HTTP2Server) {
        let (settings, maximumStreams) = Self.settings(of: server)
        (self.number, self.descriptor, self.server) = (number, descriptor, server)
        peer = HTTP2Peer(maximumStreams: maximumStreams)
        ssl = SSL_new(settings.context)
        SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()))
        SSL_set_accept_state(ssl)
    }

    deinit {
        SSL_free(ssl)
        close()
    }

    /// A Boolean value that indicates whether something waits until the socket is writable.
    var hasOutput: Bool { !outgoing.isEmpty }

    /// Handles what has arrived.
    func step() {
        guard !isStalled else { return flush() }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var hasEnded = false
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            hasEnded = count == 0 || count < 0 && errno != EAGAIN
            guard count > 0 else { break }
            BIO_write(SSL_get_rbio(ssl), buffer, Int32(count))
        }
        ERR_clear_error()
        if SSL_is_init_finished(ssl) == 0 { SSL_do_handshake(ssl) }
        if SSL_is_init_finished(ssl) == 1, !isEstablished {
            isEstablished = true
            server?.record.update { $0.established += 1 }
        }
        while SSL_is_init_finished(ssl) == 1 {
            let count = SSL_read(ssl, &buffer, Int32(buffer.count))
            guard count > 0 else { break }
            incoming += buffer.prefix(Int(count))
        }
        if speaksHTTP2 { takeFrames() } else { takeHeads() }
        if hasEnded {
            close()
        } else if !isClosed {
            flush()
        }
    }

    private var speaksHTTP2: Bool {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        return count == 2
    }

    private func takeFrames() {
        guard !incoming.isEmpty else { return }
        _ = peer.receive(incoming)
        incoming = []
        let (ends, completed) = (peer.ends, peer.completed.dropFirst(completedCount))
        completedCount = peer.completed.count
        let requests = completed.map { stream in
            let fields = peer.requests[stream, default: []].map { ($0.name, $0.value) }
            let table = Dictionary(fields) { $0 + ", " + $1 }
            return HTTP2Server.Request(
                connection: number, stream: stream, path: table[":path", default: ""], fields: table)
        }
        let pongs = Array(repeating: number, count: peer.pongCount)
        server?.record.update { [number] record in
            for (stream, code) in ends where code != 0 { record.resets[[number, Int(stream)]] = code }
            record.requests += requests
            record.pongs = record.pongs.filter { $0 != number } + pongs
        }
        for request in requests where !isClosed { handle(request.stream, request.path) }
    }

    private func takeHeads() {
        while let end = incoming.firstRange(of: Array("\r\n\r\n".utf8)) {
            let lines = String(decoding: incoming[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
            incoming.removeSubrange(..<end.upperBound)
            let path = String(lines[0].split(separator: " ")[1])
            var fields: [String: String] = [:]
            for line in lines.dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1)
                fields[parts[0].lowercased()] = parts[1].trimmingPrefix(" ").description
            }
            let request = HTTP2Server.Request(connection: number, stream: 0, path: path, fields: fields)
            server?.record.update { $0.requests.append(request) }
            handle(0, path)
        }
    }

    /// Sends a response, as far as the client's windows allow.
    func respond(_ stream: Int32, status: Int = 200, _ fields: [(String, String)] = [], body: [UInt8]? = nil) {
        if speaksHTTP2 { return peer.respond(to: stream, [(":status", "\(status)")] + fields, body: body) }
        let lines = fields.map { "\($0): \($1)\r\n" }.joined()
        write(Array("HTTP/1.1 \(status) X\r\n\(lines)Content-Length: \(body?.count ?? 0)\r\n\r\n".utf8) + (body ?? []))
    }

    /// Sends frames without regard to the client's windows, after what is due.
    func send(_ frames: HTTP2Frame...) {
        flush()
        write(frames.flatMap(\.bytes))
    }

    /// Encrypts bytes, and sends as many as possible.
    func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBufferPointer { SSL_write(ssl, $0.baseAddress, Int32($0.count)) }
            guard count > 0 else { break }
            rest = rest.dropFirst(Int(count))
        }
        flush()
    }

    /// Sends as much as possible of what is due.
    func flush() {
        if speaksHTTP2, SSL_is_init_finished(ssl) == 1, case let output = peer.takeOutput(), !isMuted, !output.isEmpty {
            output.withUnsafeBufferPointer { _ = SSL_write(ssl, $0.baseAddress, Int32($0.count)) }
        }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = BIO_read(SSL_get_wbio(ssl), &buffer, Int32(buffer.count)), count > 0 {
            outgoing += buffer.prefix(Int(count))
        }
        guard !outgoing.isEmpty, !isClosed else { return }
        let sent = Glibc.send(descriptor, outgoing, outgoing.count, Int32(MSG_NOSIGNAL))
        if sent > 0 { outgoing.removeFirst(sent) }
    }

    /// Sends bytes that are not TLS.
    func corrupt() {
        outgoing += Array(repeating: 0x55, count: 32)
        flush()
    }

    /// The number of bytes that the client's system has not received yet.
    var unreceivedCount: Int {
        var count: Int32 = 0
        _ = ioctl(descriptor, UInt(TIOCOUTQ), &count)
        return Int(count) + outgoing.count
    }

    /// Closes the connection, without an announcement; with `resets`, the client cannot send anymore.
    func close(resets: Bool = false) {
        guard !isClosed else { return }
        isClosed = true
        if resets {
            var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        }
        Glibc.close(descriptor)
        server?.record.update { [number] in _ = $0.closed.insert(number) }
    }
}
