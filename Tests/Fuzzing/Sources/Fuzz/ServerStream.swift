import COpenSSL
import Foundation

/// The server's side of a connection, with TLS or without it, whose calls wait.
final class ServerStream {
    private let socket: Int32
    /// `nil` without TLS.
    private let ssl: OpaquePointer?
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    init(_ socket: Int32, _ settings: ServerSettings? = nil) {
        self.socket = socket
        ssl = settings.flatMap { SSL_new($0.context) }
        guard let ssl else { return }
        // Not the socket's own, which raises a signal if the client has closed the connection.
        SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()))
        SSL_set_accept_state(ssl)
    }

    deinit { SSL_free(ssl) }

    /// Negotiates TLS, if there is any; returns whether that was successful.
    func begin() -> Bool {
        guard let ssl else { return true }
        while true {
            ERR_clear_error()
            let result = SSL_do_handshake(ssl)
            let isSent = sendPending()
            if result == 1 { return isSent }
            guard SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ, isSent, isReadable(within: 500), receivePending()
            else { return false }
        }
    }

    /// Returns whether bytes, or the end of the connection, have arrived.
    func isReadable(within milliseconds: Int32) -> Bool {
        if hasReceivedBytes { return true }
        var status = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&status, 1, milliseconds) > 0
    }

    /// Returns the received bytes, which may be none; `nil` at the end of the connection.
    func receive() -> [UInt8]? {
        guard let ssl else {
            let count = recv(socket, &buffer, buffer.count, 0)
            return count > 0 ? Array(buffer[..<count]) : nil
        }
        guard hasReceivedBytes || receivePending() else { return nil }
        var bytes: [UInt8] = []
        while true {
            ERR_clear_error()
            let count = SSL_read(ssl, &buffer, Int32(buffer.count))
            guard count > 0 else {
                let error = SSL_get_error(ssl, count)
                return error == SSL_ERROR_WANT_READ && sendPending() ? bytes : nil
            }
            bytes += buffer[..<Int(count)]
        }
    }

    /// Returns whether all bytes were sent.
    func send(_ bytes: [UInt8]) -> Bool {
        guard let ssl else { return bytes.isEmpty || sendRaw(bytes) }
        ERR_clear_error()
        return bytes.isEmpty || SSL_write(ssl, bytes, Int32(bytes.count)) == bytes.count && sendPending()
    }

    /// Announces the end of the connection, if there is TLS.
    func announceEnd() {
        guard let ssl, SSL_is_init_finished(ssl) == 1 else { return }
        ERR_clear_error()
        SSL_shutdown(ssl)
        _ = sendPending()
    }

    /// A Boolean value that indicates whether the client's first bytes arrived with the end of the handshake.
    private var hasReceivedBytes: Bool { ssl.map { BIO_ctrl_pending(SSL_get_rbio($0)) > 0 } ?? false }

    private func receivePending() -> Bool {
        let count = recv(socket, &buffer, buffer.count, 0)
        return count > 0 && BIO_write(SSL_get_rbio(ssl), buffer, Int32(count)) == count
    }

    private func sendPending() -> Bool {
        while true {
            let count = BIO_read(SSL_get_wbio(ssl), &buffer, Int32(buffer.count))
            guard count > 0 else { return true }
            guard sendRaw(Array(buffer[..<Int(count)])) else { return false }
        }
    }

    private func sendRaw(_ bytes: [UInt8]) -> Bool {
        Foundation.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }
}
