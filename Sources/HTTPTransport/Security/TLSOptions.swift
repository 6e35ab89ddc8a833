/// How servers are told to be who they say, and who we are to them.
///
/// What is by host is chosen anew for every hop by the host of its URL; of several patterns the most specific one counts.
/// Files are read when a connection is made that needs them, so that they may be replaced while the program runs, and come
/// after it: one that is missing, or cannot be read, fails the requests to https hosts that need it, as
/// ``TransportError/Reason/insecure``, by its name.
public struct TLSOptions: Sendable, Hashable {
    /// Versions of the protocol.
    public enum Version: Sendable, Hashable {
        /// TLS 1.2 (RFC 5246).
        case tls12
        /// TLS 1.3 (RFC 8446).
        case tls13
    }

    /// A file of certificate authorities (PEM) to trust instead of the system's; what it says is kept for a day.
    public var certificateAuthorityFile: String?
    /// The oldest version that is spoken.
    public var minimumVersion: Version
    /// The public keys that a host's own certificate may have, whoever has signed it; an empty set pins nothing.
    public var publicKeyPins: [HostPattern: Set<PublicKeyPin>]
    /// What to show hosts that ask who we are.
    public var clientCertificates: [HostPattern: ClientCertificate]
    /// Hosts whose certificates are not looked at, so that anybody on the way may read and change everything.
    ///
    /// Pins count for them as well.
    public var insecureHosts: Set<HostPattern>

    /// The system's authorities, TLS 1.2 or later, no exceptions.
    public init(
        certificateAuthorityFile: String? = nil, minimumVersion: Version = .tls12,
        publicKeyPins: [HostPattern: Set<PublicKeyPin>] = [:],
        clientCertificates: [HostPattern: ClientCertificate] = [:], insecureHosts: Set<HostPattern> = []
    ) {
        self.certificateAuthorityFile = certificateAuthorityFile
        self.minimumVersion = minimumVersion
        self.publicKeyPins = publicKeyPins
        self.clientCertificates = clientCertificates
        self.insecureHosts = insecureHosts
    }

    /// What counts for `host`.
    func settings(for host: String) -> HostSettings {
        HostSettings(
            isVerified: !insecureHosts.contains { $0.matches(host) },
            pins: publicKeyPins.mostSpecific(for: host) ?? [],
            clientCertificate: clientCertificates.mostSpecific(for: host))
    }

    /// What can differ from host to host.
    struct HostSettings: Equatable {
        var isVerified = true
        var pins: Set<PublicKeyPin> = []
        var clientCertificate: ClientCertificate?
    }
}

/// Who we are to a server that asks: a certificate and its private key.
public struct ClientCertificate: Sendable, Hashable {
    /// The file of the certificate and those that lead to its authority (PEM).
    public var certificateFile: String
    /// The file of the private key (PEM); nil if it is in the certificate's.
    public var keyFile: String?
    /// What the private key is encrypted with, if it is.
    public var passPhrase: String?

    /// A certificate in files.
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
