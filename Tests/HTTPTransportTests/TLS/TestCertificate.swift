import COpenSSL
import Foundation

/// A certificate and its key, made in this process.
final class TestCertificate {
    let certificate: OpaquePointer
    let key: OpaquePointer

    /// Makes a certificate for `subject`, signed by `issuer` or, without one, by itself.
    ///
    /// - Parameters:
    ///   - names: The alternative names, such as `DNS:a.example,IP:127.0.0.1`.
    ///   - days: The days from now at which it becomes valid and expires.
    init(
        _ subject: String, names: String? = nil, issuer: TestCertificate? = nil, isAuthority: Bool = false,
        days: (Int, Int) = (-1, 2), key sharedKey: TestCertificate? = nil, padding: Int = 0
    ) {
        guard let certificate = X509_new() else { preconditionFailure("out of memory") }
        let key =
            sharedKey.map { other in
                EVP_PKEY_up_ref(other.key)
                return other.key
            } ?? Self.makeKey()
        (self.certificate, self.key) = (certificate, key)
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), Int.random(in: 1...Int(Int32.max)))
        X509_gmtime_adj(X509_getm_notBefore(certificate), days.0 * 86_400)
        X509_gmtime_adj(X509_getm_notAfter(certificate), days.1 * 86_400)
        X509_set_pubkey(certificate, key)
        let name = X509_get_subject_name(certificate)
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, subject, -1, -1, 0)
        X509_set_issuer_name(certificate, X509_get_subject_name(issuer?.certificate ?? certificate))
        if isAuthority { add(NID_basic_constraints, "critical,CA:TRUE") }
        if let names { add(NID_subject_alt_name, names) }
        if padding > 0 { add(NID_netscape_comment, String(repeating: "x", count: padding)) }
        X509_sign(certificate, issuer?.key ?? key, EVP_sha256())
    }

    deinit {
        X509_free(certificate)
        EVP_PKEY_free(key)
    }

    private static func makeKey() -> OpaquePointer {
        let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
        defer { EVP_PKEY_CTX_free(context) }
        EVP_PKEY_keygen_init(context)
        EVP_PKEY_CTX_set_group_name(context, "P-256")
        var key: OpaquePointer?
        EVP_PKEY_generate(context, &key)
        guard let key else { preconditionFailure("out of memory") }
        return key
    }

    private func add(_ kind: Int32, _ value: String) {
        let item = X509V3_EXT_conf_nid(nil, nil, kind, value)
        X509_add_ext(certificate, item, -1)
        X509_EXTENSION_free(item)
    }

    /// The certificate as PEM.
    var pem: String {
        Self.text { PEM_write_bio_X509($0, certificate) }
    }

    /// Returns the private key as PEM, encrypted if there is a pass phrase.
    func keyPEM(passPhrase: String? = nil) -> String {
        Self.text { bio in
            guard let passPhrase else { return PEM_write_bio_PrivateKey(bio, key, nil, nil, 0, nil, nil) }
            let bytes = Array(passPhrase.utf8)
            return PEM_write_bio_PrivateKey(bio, key, EVP_aes_256_cbc(), bytes, Int32(bytes.count), nil, nil)
        }
    }

    private static func text(_ write: (OpaquePointer?) -> Int32) -> String {
        let bio = BIO_new(BIO_s_mem())
        defer { BIO_free(bio) }
        _ = write(bio)
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = BIO_read(bio, &bytes, Int32(bytes.count))
        return String(decoding: bytes.prefix(Int(max(0, count))), as: UTF8.self)
    }
}

/// A folder for the files of a test, which is removed with its owner.
final class TestFolder {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("tls-\(UUID().uuidString)").path

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file in place of the one before, and returns its path.
    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        try text.write(toFile: "\(path)/\(name)", atomically: true, encoding: .utf8)
        return "\(path)/\(name)"
    }
}
