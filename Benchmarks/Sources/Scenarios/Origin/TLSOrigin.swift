/// nginx with TLS for many hosts, each an address of this machine with a certificate of its own.
///
/// Addresses instead of names, because no engine then needs a resolver.
struct TLSOrigin: Codable, Hashable, Sendable {
    /// The number of hosts.
    let hosts: Int
    /// The port at which only HTTP/1.1 is offered.
    let http1Port: UInt16
    /// The port at which HTTP/2 is offered as well.
    let http2Port: UInt16
    /// The path of the authorities that engines trust: the system's and that of the run.
    let authorities: String
    /// The path of the authority of the run alone.
    let authority: String
    /// A Boolean value that indicates whether commands can have these authorities as the system's.
    let canReplaceSystemAuthorities: Bool
    /// The path of the log of requests, or `nil` if there is none.
    let log: String?

    /// Returns the URL of a file on a host, whose number is from 0 to ``hosts`` - 1.
    func url(_ name: String, host: Int = 0, over web: WebProtocol) -> String {
        "https://\(LoopbackAddress(number: host)):\(web == .http2 ? http2Port : http1Port)/\(name)"
    }

    /// Returns the origin as it is seen through a proxy at these ports.
    func behind(http1Port: UInt16, http2Port: UInt16) -> TLSOrigin {
        TLSOrigin(
            hosts: hosts, http1Port: http1Port, http2Port: http2Port, authorities: authorities, authority: authority,
            canReplaceSystemAuthorities: canReplaceSystemAuthorities, log: log)
    }

    /// Runs `body` while nginx serves a folder on `hosts` addresses.
    ///
    /// Throws `NotInstalled` without nginx or openssl.
    static func serving<Result: Sendable>(
        _ folder: FixtureFolder, hosts: Int, logs: Bool, _ body: (TLSOrigin) async throws -> Result
    ) async throws -> Result {
        guard let nginx = NginxOrigin.executable() else { throw NotInstalled(description: "nginx is not installed") }
        return try await TemporaryFolder.with("certificates") { path in
            let certificates = try await CertificateFolder(path: path, hosts: hosts)
            let origin = TLSOrigin(
                hosts: hosts, http1Port: try LoopbackSocket.freePort(), http2Port: try LoopbackSocket.freePort(),
                authorities: certificates.authorities, authority: certificates.authority,
                canReplaceSystemAuthorities: SystemAuthorities.canBeReplaced(by: certificates.authorities),
                log: logs ? path + "/access.log" : nil)
            return try await NginxOrigin.running(
                NginxOrigin.configuration(
                    servers: origin.servers(certificates, folder: folder.path), log: origin.log),
                nginx: nginx, ports: [origin.http1Port, origin.http2Port]
            ) {
                try await body(origin)
            }
        }
    }

    private func servers(_ certificates: CertificateFolder, folder: String) -> String {
        (0..<hosts).map { number in
            let address = LoopbackAddress(number: number)
            return """
                server {
                    listen \(address):\(http1Port) ssl backlog=4096;
                    listen \(address):\(http2Port) ssl http2 backlog=4096;
                    ssl_certificate \(certificates.certificate(of: address));
                    ssl_certificate_key \(certificates.key);
                    root "\(folder)";
                }
                """
        }
        .joined(separator: "\n")
    }
}
