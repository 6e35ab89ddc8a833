import COpenSSL

/// The certificate authorities in OpenSSL's form, parsed once a day.
///
/// Certificates of the folder are found, and then kept, when a server's certificate is verified.
@safe
struct TrustStore {
    /// The time after which the files are read again.
    static let lifetime = Duration.seconds(24 * 60 * 60)

    private let authorities: CertificateAuthorities
    private var content: Content?
    private var end = MonotonicInstant.now

    init(_ authorities: CertificateAuthorities) {
        self.authorities = authorities
    }

    /// Returns the authorities, which are the same object until they are read again.
    mutating func content(now: MonotonicInstant) throws(TLSFailure) -> Content {
        if let content, now < end { return content }
        content = nil
        let new = try Content(authorities)
        content = new
        end = now + Self.lifetime
        return new
    }

    /// An owner of an `X509_STORE`.
    @safe
    final class Content {
        let store: OpaquePointer

        fileprivate init(_ authorities: CertificateAuthorities) throws(TLSFailure) {
            OpenSSLError.clearAll()
            guard let store = unsafe X509_STORE_new() else { throw TLSFailure(preparing: "certificate authorities") }
            unsafe self.store = store
            // A trusted certificate ends a chain, whoever issued it, and is preferred to those of the server.
            _ = unsafe X509_STORE_set_flags(store, UInt(X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN))
            if let file = authorities.file, unsafe X509_STORE_load_file(store, file) != 1 {
                throw TLSFailure(reading: "the certificate authorities in", from: file)
            }
            if let folder = authorities.folder, unsafe X509_STORE_load_path(store, folder) != 1 {
                throw TLSFailure(reading: "the certificate authorities in", from: folder)
            }
            // Certificates that are in a file twice.
            OpenSSLError.clearAll()
        }

        deinit { unsafe X509_STORE_free(store) }
    }
}
