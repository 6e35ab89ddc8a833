import COpenSSL
import Glibc

@testable import HTTPTransport

/// The settings of servers in this process, which know the sessions of each other.
final class ServerSettings {
    let context: OpaquePointer
    fileprivate let chosenProtocol: [UInt8]?
    /// A Boolean value that indicates whether the server chooses no protocol if the chosen one is not offered.
    fileprivate let heedsOffer: Bool

    init(
        _ certificate: TestCertificate, version: Int32? = nil, chosenProtocol: String? = nil, heedsOffer: Bool = false,
        clientAuthority: TestCertificate? = nil
    ) {
        _ = copenssl_initialize()
        context = SSL_CTX_new(TLS_server_method())
        self.chosenProtocol = chosenProtocol.map { Array($0.utf8) }
        self.heedsOffer = heedsOffer
        if let version {
            SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(version), nil)
            SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(version), nil)
        }
        SSL_CTX_use_certificate(context, certificate.certificate)
        SSL_CTX_use_PrivateKey(context, certificate.key)
        SSL_CTX_set_session_id_context(context, [1], 1)
        if let clientAuthority {
            X509_STORE_add_cert(SSL_CTX_get_cert_store(context), clientAuthority.certificate)
            SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        }
        guard chosenProtocol != nil else { return }
        let owner = Unmanaged.passUnretained(self).toOpaque()
        SSL_CTX_set_alpn_select_cb(
            context,
            { _, name, count, offer, offerCount, owner in
                guard let owner else { return SSL_TLSEXT_ERR_ALERT_FATAL }
                let settings = Unmanaged<ServerSettings>.fromOpaque(owner).takeUnretainedValue()
                let offered = UnsafeBufferPointer(start: offer, count: Int(offerCount))
                if settings.heedsOffer, offered.firstRange(of: settings.chosenProtocol ?? []) == nil {
                    return SSL_TLSEXT_ERR_NOACK
                }
                // The array lives as long as the settings.
                name?.pointee = settings.chosenProtocol?.withUnsafeBufferPointer { $0.baseAddress }
                count?.pointee = UInt8(settings.chosenProtocol?.count ?? 0)
                return SSL_TLSEXT_ERR_OK
            }, owner)
    }

    deinit { SSL_CTX_free(context) }

    /// Keeps sessions, in place of tickets that contain them.
    func keepSessions() {
        SSL_CTX_set_options(context, UInt64(1) << 14)
    }

    /// Adds a certificate to those that are sent after the server's own.
    func add(_ intermediate: TestCertificate) {
        X509_up_ref(intermediate.certificate)
        SSL_CTX_ctrl(context, SSL_CTRL_EXTRA_CHAIN_CERT, 0, UnsafeMutableRawPointer(intermediate.certificate))
    }
}

/// A TLS server at the other end of a socket pair; the test decides when which of its bytes are delivered.
final class ServerEnd {
    var ssl: OpaquePointer
    /// The client's end.
    let socket: Socket
    /// The bytes for the client that have not been delivered yet.
    var outgoing: [UInt8] = []
    /// The number of bytes that are delivered at a time.
    var maximumDelivery = Int.max
    /// The application's bytes from the client.
    var received: [UInt8] = []
    /// A Boolean value that indicates whether the client has announced the end.
    private(set) var hasReceivedEnd = false
    private let settings: ServerSettings
    private let descriptor: Int32
    private var isClosed = false

    init(_ settings: ServerSettings) {
        self.settings = settings
        var pair: [Int32] = [0, 0]
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &pair)
        (descriptor, socket) = (pair[0], Socket(descriptor: pair[1]))
        ssl = SSL_new(settings.context)
        SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()))
        SSL_set_accept_state(ssl)
    }

    deinit {
        SSL_free(ssl)
        close()
        socket.close()
    }

    /// Processes what has arrived from the client, and delivers the answers.
    func step() {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            BIO_write(SSL_get_rbio(ssl), buffer, Int32(count))
        }
        ERR_clear_error()
        if SSL_is_init_finished(ssl) == 0 { SSL_do_handshake(ssl) }
        while SSL_is_init_finished(ssl) == 1 {
            let count = SSL_read(ssl, &buffer, Int32(buffer.count))
            guard count > 0 else { break }
            received += buffer.prefix(Int(count))
        }
        hasReceivedEnd = SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN != 0
        flush()
    }

    /// Encrypts application bytes.
    func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = SSL_write(ssl, Array(rest), Int32(rest.count))
            guard count > 0 else { return }
            rest = rest.dropFirst(Int(count))
        }
        flush()
    }

    /// Sends a session.
    func sendTicket() {
        SSL_new_session_ticket(ssl)
        SSL_do_handshake(ssl)
        flush()
    }

    /// Sends a new key, and requests one.
    func updateKey(requests: Bool) {
        SSL_key_update(ssl, requests ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED)
        SSL_do_handshake(ssl)
        flush()
    }

    /// Requests a renegotiation.
    func requestRenegotiation() {
        SSL_renegotiate(ssl)
        SSL_do_handshake(ssl)
        flush()
    }

    /// Announces the end.
    func announceEnd() {
        SSL_shutdown(ssl)
        flush()
    }

    /// Closes the socket.
    func close() {
        if !isClosed { Glibc.close(descriptor) }
        isClosed = true
    }

    /// Closes the socket for sending only.
    func closeForSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Delivers bytes that are not encrypted.
    func deliver(plain bytes: [UInt8]) {
        outgoing += bytes
        deliver()
    }

    /// Takes what OpenSSL has written, and delivers as much as is allowed.
    func flush() {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = BIO_read(SSL_get_wbio(ssl), &buffer, Int32(buffer.count))
            guard count > 0 else { break }
            outgoing += buffer.prefix(Int(count))
        }
        deliver()
    }

    /// Delivers as many bytes as are allowed at a time.
    func deliver() {
        let count = min(outgoing.count, maximumDelivery)
        guard count > 0 else { return }
        let sent = send(descriptor, outgoing, count, Int32(MSG_NOSIGNAL))
        if sent > 0 { outgoing.removeFirst(sent) }
    }
}

extension TLSConnection {
    /// Performs the handshake with `server`, and returns its failure.
    func handshake(with server: ServerEnd) -> TLSFailure? {
        for _ in 0..<100_000 {
            switch handshake() {
            case .complete:
                server.step()
                return nil
            case .failed(let failure):
                server.step()
                return failure
            case .wantsRead, .wantsWrite: server.step()
            }
        }
        return TLSFailure(kind: .brokenOff, detail: "the handshake does not end")
    }

    /// Receives at most `count` bytes.
    func receive(_ count: Int = 1 << 16) -> ([UInt8], SocketResult) {
        var result = SocketResult.wouldBlock
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            result = receive(into: UnsafeMutableRawBufferPointer(buffer))
            if case .count(let count) = result { written = count }
        }
        return (bytes, result)
    }
}
