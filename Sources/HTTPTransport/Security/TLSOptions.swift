/// Settings for TLS: trusted authorities, public key pins, and client certificates.
///
/// Settings for specific hosts apply according to the host of the URL, for the first request and again for each
/// redirect. If several patterns match, the pins and the client certificate of the most specific one apply; one match
/// is sufficient for ``hostsWithoutVerification``. Files are read when a connection needs them, so they can be created
/// or replaced while the program runs; a replaced ``certificateAuthorityFile`` can take a day to apply. If a file is
/// missing or unreadable, requests to https hosts that need it fail with ``TransportError/Reason/tlsFailure``, and
/// ``TransportError/detail`` contains the file's name.
public struct TLSOptions: Sendable, Hashable {
    /// A version of TLS.
    public enum Version: Sendable, Hashable {
        /// TLS 1.2 (RFC 5246).
        case tls12
        /// TLS 1.3 (RFC 8446).
        case tls13
    }

    /// A file of certificate authorities (PEM) that replace those of the system, also for proxies; each thread for
    /// transfers caches its content for a day.
    ///
    /// By default, this is the file that libcurl was built with, such as `/etc/ssl/certs/ca-certificates.crt`, or, if
    /// there is none, its folder. Authorities that are only in the system's folder are not trusted while there is a
    /// file; on Debian, `update-ca-certificates` adds them to it.
    public var certificateAuthorityFile: String?
    /// A folder of certificate authorities that are trusted in addition, each in a file that is named by the hash of
    /// its subject, as `openssl rehash` does.
    ///
    /// A file is read when a server's certificate, or one of its issuers, was issued by its subject, and then kept for
    /// a day as well.
    public var certificateAuthorityFolder: String?
    /// The minimum version.
    public var minimumVersion: Version
    /// The allowed public keys of a host's own certificate, which must also be trusted unless the host is in
    /// ``hostsWithoutVerification``; an empty set allows all keys.
    ///
    /// The keys of issuers are not compared with the pins.
    public var publicKeyPins: [HostPattern: Set<PublicKeyPin>]
    /// The client certificates for hosts that request one.
    public var clientCertificates: [HostPattern: ClientCertificate]
    /// The hosts whose certificates are not verified.
    ///
    /// Attackers can intercept and modify connections to these hosts. Public key pins apply to them as well.
    public var hostsWithoutVerification: Set<HostPattern>

    /// Creates options; by default, the system's authorities, TLS 1.2 or later, and no exceptions.
    public init(
        certificateAuthorityFile: String? = nil, certificateAuthorityFolder: String? = nil,
        minimumVersion: Version = .tls12,
        publicKeyPins: [HostPattern: Set<PublicKeyPin>] = [:],
        clientCertificates: [HostPattern: ClientCertificate] = [:], hostsWithoutVerification: Set<HostPattern> = []
    ) {
        self.certificateAuthorityFile = certificateAuthorityFile
        self.certificateAuthorityFolder = certificateAuthorityFolder
        self.minimumVersion = minimumVersion
        self.publicKeyPins = publicKeyPins
        self.clientCertificates = clientCertificates
        self.hostsWithoutVerification = hostsWithoutVerification
    }

    /// Returns the settings for `host`.
    func settings(for host: String) -> HostSettings {
        HostSettings(
            isVerified: !hostsWithoutVerification.contains { $0.matches(host) },
            pins: publicKeyPins.mostSpecific(for: host) ?? [],
            clientCertificate: clientCertificates.mostSpecific(for: host))
    }

    /// The settings that can differ between hosts.
    struct HostSettings: Equatable {
        var isVerified = true
        var pins: Set<PublicKeyPin> = []
        var clientCertificate: ClientCertificate?
    }
}

/// A client certificate and its private key.
public struct ClientCertificate: Sendable, Hashable {
    /// The file of the certificate and its intermediate certificates (PEM).
    public var certificateFile: String
    /// The file of the private key (PEM); `nil` if it is in the certificate's file.
    public var keyFile: String?
    /// The pass phrase of the private key, if it is encrypted.
    public var passPhrase: String?

    /// Creates a client certificate from files.
    public init(certificateFile: String, keyFile: String? = nil, passPhrase: String? = nil) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
        self.passPhrase = passPhrase
    }
}

extension Dictionary where Key == HostPattern {
    fileprivate func mostSpecific(for host: String) -> Value? {
        guard !isEmpty else { return nil }
        return filter { $0.key.matches(host) }.max { $0.key.length < $1.key.length }?.value
    }
}
