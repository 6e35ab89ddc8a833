import COpenSSL

extension TLSConnection {
    /// Sets what the certificate must be for, and the name that the server is asked for.
    func require(_ peer: TLSPeer, of ssl: OpaquePointer) throws(TLSFailure) {
        if peer.isAddress {
            guard unsafe X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), peer.host) == 1 else {
                throw TLSFailure(preparing: "TLS to '\(peer.host)'")
            }
        } else {
            unsafe SSL_set_hostflags(ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
            guard unsafe SSL_set1_host(ssl, peer.host) == 1, unsafe copenssl_set_server_name(ssl, peer.host) == 1 else {
                throw TLSFailure(preparing: "TLS to '\(peer.host)'")
            }
        }
    }

    /// Offers the protocols, each after its length (RFC 7301).
    func offerProtocols(_ ssl: OpaquePointer) throws(TLSFailure) {
        let list = protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        guard unsafe SSL_set_alpn_protos(ssl, list, UInt32(list.count)) == 0 else {
            throw TLSFailure(preparing: "TLS to '\(peer.host)'")
        }
    }

    /// Returns why the connection is not used after a successful handshake; `nil` if it is.
    func rejection(of ssl: OpaquePointer) -> TLSFailure? {
        if let chosen = unsafe Self.chosenProtocol(of: ssl), !protocols.contains(chosen) {
            return TLSFailure(kind: .rejected, detail: "the server chose a protocol that was not offered: \(chosen)")
        }
        guard !pins.isEmpty else { return nil }
        guard let pin = unsafe Self.pin(of: ssl), pins.contains(pin) else {
            return TLSFailure(
                kind: .rejected, detail: "the server's public key does not match the pins of '\(peer.host)'")
        }
        return nil
    }

    /// Returns the protocol that the server has chosen; `nil` if it does not know about the choice.
    static func chosenProtocol(of ssl: OpaquePointer) -> String? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        unsafe SSL_get0_alpn_selected(ssl, &name, &count)
        guard let name = unsafe name else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }

    /// Returns the pin of the server's public key, which belongs to the session if that was resumed.
    private static func pin(of ssl: OpaquePointer) -> PublicKeyPin? {
        guard let certificate = unsafe SSL_get0_peer_certificate(ssl),
            let key = unsafe X509_get_X509_PUBKEY(certificate)
        else { return nil }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_X509_PUBKEY(key, &bytes)
        guard count > 0, let start = unsafe bytes else { return nil }
        defer { unsafe CRYPTO_free(start, #file, #line) }
        var digest = [UInt8](repeating: 0, count: 32)
        guard unsafe EVP_Digest(start, Int(count), &digest, nil, EVP_sha256(), nil) == 1 else { return nil }
        var text = [UInt8](repeating: 0, count: 45)
        let length = unsafe EVP_EncodeBlock(&text, digest, Int32(digest.count))
        return PublicKeyPin(String(decoding: text.prefix(Int(length)), as: UTF8.self))
    }
}
