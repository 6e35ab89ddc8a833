import COpenSSL

@testable import HTTPTransport

/// Encrypts records of TLS 1.3 as a server does, also those that OpenSSL never sends.
final class RecordForge {
    /// A server whose connection has no other records after the handshake.
    let server: ServerEnd
    private let settings: ServerSettings
    private var secret: [UInt8] = []
    private var count: UInt64 = 0

    init(_ certificate: TestCertificate) {
        settings = ServerSettings(certificate, version: TLS1_3_VERSION)
        SSL_CTX_set_ciphersuites(settings.context, "TLS_AES_128_GCM_SHA256")
        SSL_CTX_set_num_tickets(settings.context, 0)
        server = ServerEnd(settings)
        SSL_set_ex_data(server.ssl, 0, Unmanaged.passUnretained(self).toOpaque())
        SSL_CTX_set_keylog_callback(settings.context) { ssl, line in
            guard let line, let owner = SSL_get_ex_data(ssl, 0) else { return }
            let words = String(cString: line).split(separator: " ")
            guard words.count == 3, words[0] == "SERVER_TRAFFIC_SECRET_0" else { return }
            let digits = Array(words[2])
            Unmanaged<RecordForge>.fromOpaque(owner).takeUnretainedValue().secret = stride(
                from: 0, to: digits.count, by: 2
            ).compactMap { UInt8(String(digits[$0...($0 + 1)]), radix: 16) }
        }
    }

    /// Delivers a record of this type; 23 are the application's.
    func deliver(_ type: UInt8, _ content: [UInt8] = [], padding: Int = 0) {
        let key = expanded("key", 16)
        var nonce = expanded("iv", 12)
        for index in 0..<8 { nonce[11 - index] ^= UInt8(truncatingIfNeeded: count >> (8 * UInt64(index))) }
        count += 1
        let plain = content + [type] + [UInt8](repeating: 0, count: padding)
        let size = plain.count + 16
        let header: [UInt8] = [23, 3, 3, UInt8(size >> 8), UInt8(size & 255)]
        var cipher = [UInt8](repeating: 0, count: plain.count)
        var tag = [UInt8](repeating: 0, count: 16)
        var written: Int32 = 0
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce)
        EVP_EncryptUpdate(context, nil, &written, header, Int32(header.count))
        EVP_EncryptUpdate(context, &cipher, &written, plain, Int32(plain.count))
        EVP_EncryptFinal_ex(context, nil, &written)
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, &tag)
        server.deliver(plain: header + cipher + tag)
    }

    /// HKDF-Expand-Label of RFC 8446, for at most one block.
    private func expanded(_ label: String, _ length: Int) -> [UInt8] {
        let label = Array("tls13 \(label)".utf8)
        let info = [0, UInt8(length), UInt8(label.count)] + label + [0, 1]
        var block = [UInt8](repeating: 0, count: 32)
        var written = 0
        _ = EVP_Q_mac(
            nil, "HMAC", nil, "SHA256", nil, secret, secret.count, info, info.count, &block, block.count, &written)
        return Array(block.prefix(length))
    }
}
