/// The places of the certificate authorities that servers and proxies are verified with.
struct CertificateAuthorities: Equatable, Sendable {
    /// A file of certificates (PEM), which each thread parses once a day: 35 to 40 ms of processor time and 0.85 MB for
    /// the 140 authorities of a Linux system.
    var file: String?
    /// A folder of certificates, in which OpenSSL finds them by the hash of their subject.
    var folder: String?

    init(file: String? = nil, folder: String? = nil) {
        self.file = file
        self.folder = folder
    }

    /// Creates the places for `options`, where `system` has the defaults of libcurl.
    init(_ options: TLSOptions, system: CertificateAuthorities) {
        file = options.certificateAuthorityFile ?? system.file
        // The system's folder has the same authorities as its file.
        folder = options.certificateAuthorityFolder ?? (file == nil ? system.folder : nil)
    }
}
