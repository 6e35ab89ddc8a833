import HTTPTransport
import HTTPTypes

/// Servers with certificates of one authority, and a transport that trusts it.
struct SharedFixture {
    let tls: TLSFixture
    let transport: CurlTransport

    init(
        maximumConnections: Int? = nil, threadCount: Int = 1, policy: NetworkPolicy = NetworkPolicy(),
        credentialProvider: (any CredentialProvider)? = nil
    ) throws {
        tls = try TLSFixture()
        transport = CurlTransport(
            configuration: .init(
                maximumConnections: maximumConnections, proxy: .none,
                tls: TLSOptions(certificateAuthorityFile: tls.authorityFile), policy: policy,
                resolver: ThreadedResolver { _ throws(LookupFailure) in ["127.0.0.1"] },
                credentialProvider: credentialProvider, threadCount: threadCount))
    }

    /// Starts a server.
    func server(
        protocol chosen: String = "h2", maximumStreams: UInt32? = nil, version: Int32? = nil,
        accepted: @escaping (HTTP2ServerConnection) -> Void = { _ in }, _ handler: @escaping HTTP2Server.Handler
    ) throws -> HTTP2Server {
        try HTTP2Server(
            tls.leaf, protocol: chosen, maximumStreams: maximumStreams, version: version, accepted: accepted, handler)
    }

    /// Starts `count` transfers.
    func start(
        _ count: Int, _ url: String, _ change: (inout TransportRequest) -> Void = { _ in }
    ) throws -> [Recorder] {
        try (0..<count).map { _ in
            let recorder = Recorder()
            _ = try transport.start(url, recorder, change)
            return recorder
        }
    }
}
