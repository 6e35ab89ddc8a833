import COpenSSL

import Glibc

/// A connection with TLS to a server, over a socket that does not block: an owner of an `SSL`.
///
/// The socket's owner closes it. Confined to the worker's thread.
@safe
final class TLSConnection {
    /// The result of a step of the handshake.
    enum HandshakeStep {
        case complete
        /// The next step is possible when the socket is readable.
        case wantsRead
        /// The next step is possible when the socket is writable.
        case wantsWrite
        case failed(TLSFailure)
    }

    let socket: Socket
    let peer: TLSPeer
    let pins: Set<PublicKeyPin>
    /// The protocols that the server may choose.
    let protocols: [String]
    private let context: TLSContext
    private let contexts: TLSContexts
    private let raw: UnsafeMutablePointer<RawSocket>
    /// `nil` after ``close()``.
    private(set) var ssl: OpaquePointer?
    private var isEstablished = false
    /// A Boolean value that indicates whether OpenSSL has asked for more bytes than there were.
    private var isExhausted = false
    /// The result of all further reads: the end, or a failure.
    private var end: SocketResult?
    /// The reason of the last failure.
    private(set) var failure: TLSFailure?

    /// Prepares a connection to `peer`, without sending anything.
    init(
        to peer: TLSPeer, over socket: Socket, context: TLSContext, pins: Set<PublicKeyPin>, offersHTTP2: Bool,
        of contexts: TLSContexts
    ) throws(TLSFailure) {
        OpenSSLError.clearAll()
        guard let ssl = unsafe SSL_new(context.pointer) else { throw TLSFailure(preparing: "TLS") }
        unsafe self.ssl = ssl
        unsafe raw = .allocate(capacity: 1)
        unsafe raw.initialize(to: RawSocket(socket))
        self.socket = socket
        self.peer = peer
        self.pins = pins
        protocols = offersHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]
        self.context = context
        self.contexts = contexts
        guard unsafe RawSocket.connect(ssl, to: raw) else { throw TLSFailure(preparing: "TLS") }
        unsafe SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
        try unsafe require(peer, of: ssl)
        try unsafe offerProtocols(ssl)
        unsafe SSL_set_connect_state(ssl)
    }

    deinit {
        unsafe SSL_free(ssl)
        unsafe raw.deallocate()
    }

    /// Returns the connection that owns `ssl`.
    static func owner(of ssl: OpaquePointer) -> TLSConnection? {
        guard let owner = unsafe SSL_get_ex_data(ssl, 0) else { return nil }
        return unsafe Unmanaged<TLSConnection>.fromOpaque(owner).takeUnretainedValue()
    }

    /// Announces the end to the server, if that is possible without waiting, and frees the memory for TLS.
    func close() {
        guard let ssl = unsafe ssl else { return }
        if isEstablished, failure == nil {
            beginTurn()
            _ = unsafe SSL_shutdown(ssl)
        }
        unsafe SSL_free(ssl)
        unsafe self.ssl = nil
        end = .failed(EBADF)
        failure = failure ?? .closed
    }
}

// MARK: - Handshake

extension TLSConnection {
    /// Continues the handshake as far as possible without waiting.
    func handshake() -> HandshakeStep {
        guard let ssl = unsafe ssl, failure == nil else { return .failed(failure ?? .closed) }
        beginTurn()
        let result = unsafe SSL_do_handshake(ssl)
        if result == 1 {
            if let rejection = unsafe rejection(of: ssl) { return .failed(fail(rejection)) }
            isEstablished = true
            return .complete
        }
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        default: return .failed(fail(unsafe handshakeFailure(ssl)))
        }
    }

    /// A Boolean value that indicates whether the server has chosen HTTP/2.
    var negotiatesHTTP2: Bool { unsafe ssl.map { unsafe Self.chosenProtocol(of: $0) } == "h2" }

    /// Resumes the session with this serialization, if the server still knows it.
    func offer(_ session: [UInt8]) {
        guard let ssl = unsafe ssl else { return }
        unsafe session.withUnsafeBufferPointer { bytes in
            var next = bytes.baseAddress
            guard let session = unsafe d2i_SSL_SESSION(nil, &next, bytes.count) else { return }
            // If it cannot be used, the handshake is a complete one.
            _ = unsafe SSL_set_session(ssl, session)
            unsafe SSL_SESSION_free(session)
        }
    }

    /// A Boolean value that indicates whether the server has resumed the session that was offered.
    var isResumed: Bool { unsafe ssl.map { unsafe SSL_session_reused($0) } == 1 }

    /// Keeps a session that the server has just made, for further connections.
    func store(_ session: OpaquePointer) {
        guard unsafe SSL_SESSION_is_resumable(session) == 1 else { return }
        let hint = Int(clamping: unsafe SSL_SESSION_get_ticket_lifetime_hint(session))
        // Zero means an unknown lifetime in TLS 1.2, and none in TLS 1.3.
        if hint == 0, unsafe SSL_SESSION_get_protocol_version(session) == TLS1_3_VERSION { return }
        let lifetime = min(hint == 0 ? .max : hint, TLSContext.sessionLifetime)
        let count = unsafe i2d_SSL_SESSION(session, nil)
        guard count > 0 else { return }
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, written in
            var next = buffer.baseAddress
            written = Int(max(0, unsafe i2d_SSL_SESSION(session, &next)))
        }
        contexts.sessions.insert(
            bytes, for: peer, settings: context.number, until: .now + .seconds(lifetime))
    }

    private func handshakeFailure(_ ssl: OpaquePointer) -> TLSFailure {
        if let error = OpenSSLError() {
            return unsafe TLSFailure(
                handshakeWith: peer.host, error, verification: SSL_get_verify_result(ssl))
        }
        return socketFailure
            ?? TLSFailure(
                kind: .brokenOff, detail: "the server closed the connection during the TLS handshake")
    }

    /// Records a failure of the handshake.
    private func fail(_ failure: TLSFailure) -> TLSFailure {
        // Whatever the cause, the next attempt is made without a session, also without one that has just been made.
        contexts.sessions.remove(peer)
        self.failure = failure
        end = .failed(EPROTO)
        return failure
    }
}

// MARK: - Data

extension TLSConnection {
    /// Sends as many of `bytes` as possible.
    ///
    /// If not all are sent, the next call must begin with the remainder: a part of it can have been encrypted.
    func send(_ bytes: Span<UInt8>) -> SocketResult {
        guard let ssl = unsafe ssl else { return .failed(EBADF) }
        beginTurn()
        return unsafe bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return .count(0) }
            var sent = 0
            while sent < bytes.count {
                let count = Int32(clamping: bytes.count - sent)
                let result = unsafe SSL_write(ssl, start + sent, count)
                guard result <= 0 else {
                    sent += Int(result)
                    continue
                }
                switch unsafe SSL_get_error(ssl, result) {
                case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return sent > 0 ? .count(sent) : .wouldBlock
                default: return sent > 0 ? .count(sent) : dataFailure()
                }
            }
            return .count(sent)
        }
    }

    /// Receives as many bytes as have arrived, at most as many as `buffer` has; zero are the end that the server has
    /// announced.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> SocketResult {
        if let end { return end }
        guard let ssl = unsafe ssl, let start = buffer.baseAddress else { return .failed(EBADF) }
        beginTurn()
        isExhausted = false
        var received = 0
        while received < buffer.count {
            let count = Int32(clamping: buffer.count - received)
            let result = unsafe SSL_read(ssl, start + received, count)
            guard result <= 0 else {
                received += Int(result)
                unsafe raw.pointee.noteApplicationBytes()
                continue
            }
            guard let last = unsafe readResult(ssl, result) else {
                return received > 0 ? .count(received) : .wouldBlock
            }
            end = last
            return received > 0 ? .count(received) : last
        }
        return .count(received)
    }

    /// A Boolean value that indicates whether there is something to receive that has left the socket, which therefore
    /// is not reported as readable.
    var hasReceivedBytes: Bool {
        guard let ssl = unsafe ssl else { return false }
        return end != nil || !isExhausted && (unsafe SSL_has_pending(ssl)) == 1
    }

    /// A Boolean value that indicates whether the connection is open and nothing for the application has arrived.
    ///
    /// Sessions and new keys that have arrived are processed.
    var isSilent: Bool {
        guard let ssl = unsafe ssl, end == nil else { return false }
        if unsafe SSL_has_pending(ssl) == 0, socket.isSilent { return true }
        beginTurn()
        isExhausted = false
        var byte: UInt8 = 0
        let result = unsafe SSL_peek(ssl, &byte, 1)
        if result > 0 { return false }
        end = unsafe readResult(ssl, result)
        // The beginning of a record could be that of a response.
        return end == nil && (unsafe SSL_has_pending(ssl)) == 0
    }

    private func beginTurn() {
        unsafe raw.pointee.beginTurn()
        OpenSSLError.clearAll()
    }

    /// Returns the end or the failure that ended a read; `nil` if more can arrive.
    private func readResult(_ ssl: OpaquePointer, _ result: Int32) -> SocketResult? {
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ:
            isExhausted = true
            return nil
        case SSL_ERROR_ZERO_RETURN: return .count(0)
        case SSL_ERROR_WANT_WRITE:
            // Waiting for it would be endless, because the socket stays readable.
            failure = TLSFailure(kind: .endlessData, detail: "the server does not read the answers that it requests")
            return .failed(EPROTO)
        default: return dataFailure()
        }
    }

    private func dataFailure() -> SocketResult {
        if let error = OpenSSLError() {
            failure = TLSFailure(receiving: error)
            return .failed(EPROTO)
        }
        if let socketFailure {
            failure = socketFailure
            let error = unsafe raw.pointee.systemError
            return .failed(error == 0 ? EPROTO : error)
        }
        failure = TLSFailure(kind: .unannouncedEnd, detail: "the server closed the connection without announcing it")
        return .failed(ECONNRESET)
    }

    /// The failure of the socket, unless the server has closed the connection.
    private var socketFailure: TLSFailure? {
        if unsafe raw.pointee.isFlooded {
            return TLSFailure(kind: .endlessData, detail: "endless data that belongs to no response")
        }
        let error = unsafe raw.pointee.systemError
        return error == 0 ? nil : TLSFailure(systemError: error)
    }
}
