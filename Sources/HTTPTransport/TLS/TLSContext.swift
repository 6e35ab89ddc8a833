import COpenSSL

/// An owner of an `SSL_CTX`: what the connections with the same settings have in common.
@safe
final class TLSContext {
    let pointer: OpaquePointer
    /// A number that no other context of the thread has.
    let number: UInt64
    /// The authorities that servers are verified with; `nil` if they are not verified.
    let authorities: TrustStore.Content?

    /// The maximum time that a session can be resumed.
    static let sessionLifetime = 24 * 60 * 60

    /// Creates a context that verifies servers with `authorities`, if there are any.
    init(number: UInt64, minimumVersion: TLSOptions.Version, authorities: TrustStore.Content?) throws(TLSFailure) {
        OpenSSLError.clearAll()
        guard let pointer = unsafe SSL_CTX_new(TLS_client_method()) else { throw TLSFailure(preparing: "TLS") }
        unsafe self.pointer = pointer
        self.number = number
        self.authorities = authorities
        unsafe copenssl_set_modes(pointer)
        let version = minimumVersion == .tls12 ? TLS1_2_VERSION : TLS1_3_VERSION
        guard unsafe copenssl_set_minimum_version(pointer, version) == 1 else { throw TLSFailure(preparing: "TLS") }
        if let authorities { unsafe SSL_CTX_set1_cert_store(pointer, authorities.store) }
        unsafe SSL_CTX_set_verify(pointer, authorities == nil ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nil)
        unsafe copenssl_report_sessions(pointer)
        unsafe SSL_CTX_set_timeout(pointer, Self.sessionLifetime)
        unsafe SSL_CTX_sess_set_new_cb(pointer) { ssl, session in
            if let ssl = unsafe ssl, let session = unsafe session {
                unsafe TLSConnection.owner(of: ssl)?.store(session)
            }
            // The session belongs to OpenSSL.
            return 0
        }
    }

    deinit { unsafe SSL_CTX_free(pointer) }
}
