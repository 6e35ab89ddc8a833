import COpenSSL

/// The TLS settings of a thread's connections: certificate authorities, contexts, and sessions.
///
/// Files are read when a connection needs them: authorities once a day, a client certificate if it has changed.
///
/// Confined to the worker's thread.
final class TLSContexts {
    /// The number of contexts for different client certificates that are kept.
    private static let maximumContexts = 16

    private struct Settings: Equatable {
        let isVerified: Bool
        let certificate: ClientCertificate?
        /// The files of the certificate and its key at the time when they were read.
        let files: [FileIdentity?]

        init(_ settings: TLSOptions.HostSettings) {
            isVerified = settings.isVerified
            certificate = settings.clientCertificate
            files = [certificate?.certificateFile, certificate?.keyFile].map { $0.flatMap(FileIdentity.init) }
        }
    }

    private let options: TLSOptions
    private var authorities: TrustStore
    /// The contexts, the one used last at the end.
    private var contexts: [(settings: Settings, context: TLSContext)] = []
    private var lastNumber: UInt64 = 0
    /// The sessions for further connections.
    var sessions: TLSSessions

    init(_ options: TLSOptions, authorities: CertificateAuthorities, sessions: TLSSessions = TLSSessions()) {
        _ = copenssl_initialize()
        self.options = options
        self.authorities = TrustStore(authorities)
        self.sessions = sessions
    }

    /// The number of contexts that are kept.
    var contextCount: Int { contexts.count }

    /// Prepares TLS to `host`, a name or the text of an address, over a connected socket that does not block; the server
    /// is offered HTTP/1.1, and HTTP/2 if `offersHTTP2`.
    ///
    /// Throws an error if a file cannot be read; the socket is left as it is.
    func connection(
        to host: String, port: Int, over socket: Socket, offersHTTP2: Bool = true, now: MonotonicInstant
    ) throws(TLSFailure) -> TLSConnection {
        let settings = options.settings(for: host)
        let context = try context(for: Settings(settings), now: now)
        let peer = TLSPeer(host: host, port: port)
        let connection = try TLSConnection(
            to: peer, over: socket, context: context, pins: settings.pins, offersHTTP2: offersHTTP2, of: self)
        if let session = sessions.session(for: peer, settings: context.number, now: now) {
            connection.offer(session)
        }
        return connection
    }

    private func context(for settings: Settings, now: MonotonicInstant) throws(TLSFailure) -> TLSContext {
        let authorities = settings.isVerified ? try authorities.content(now: now) : nil
        if let index = contexts.lastIndex(where: { $0.settings == settings && $0.context.authorities === authorities })
        {
            if index < contexts.count - 1 { contexts.append(contexts.remove(at: index)) }
            return contexts[contexts.count - 1].context
        }
        lastNumber += 1
        let context = try TLSContext(
            number: lastNumber, minimumVersion: options.minimumVersion, authorities: authorities)
        if let certificate = settings.certificate { try context.use(certificate) }
        // Those of replaced files.
        contexts.removeAll { kept in
            kept.settings.isVerified == settings.isVerified && kept.settings.certificate == settings.certificate
                || kept.context.authorities != nil && settings.isVerified && kept.context.authorities !== authorities
        }
        if contexts.count >= Self.maximumContexts { contexts.removeFirst() }
        contexts.append((settings, context))
        return context
    }
}
