/// The certificates of a run, made with openssl: an authority, and a leaf for each host, with the same P-256 key.
struct CertificateFolder: Sendable {
    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    private static let days = ["-days", "2"]

    let path: String

    /// The system's authorities followed by that of the run.
    var authorities: String { path + "/authorities.pem" }
    /// The authority of the run alone.
    var authority: String { path + "/authority.pem" }
    /// The private key of all leaves.
    var key: String { path + "/leaf.key" }

    /// Returns the path of the certificate of a host.
    func certificate(of address: LoopbackAddress) -> String { "\(path)/\(address).pem" }

    /// Makes the certificates of the first `hosts` addresses in the folder.
    init(path: String, hosts: Int) async throws {
        self.path = path
        let authorityKey = path + "/authority.key"
        try await Self.openssl(
            ["req", "-x509", "-subj", "/CN=benchmarks", "-keyout", authorityKey, "-out", authority]
                + Self.days + Self.newKey)
        try await Self.openssl(
            ["req", "-new", "-subj", "/CN=origin", "-keyout", key, "-out", path + "/leaf.csr"] + Self.newKey)
        for number in 0..<hosts {
            let address = LoopbackAddress(number: number)
            try File.write(Array("subjectAltName=IP:\(address)".utf8), to: path + "/names")
            try await Self.openssl(
                ["x509", "-req", "-in", path + "/leaf.csr", "-CA", authority, "-CAkey", authorityKey]
                    + ["-set_serial", "\(number + 2)", "-extfile", path + "/names", "-out", certificate(of: address)]
                    + Self.days)
        }
        let system = try SystemAuthorities.path.map { try File.read($0) } ?? []
        try File.write(try system + File.read(authority), to: authorities)
    }

    private static func openssl(_ arguments: [String]) async throws {
        guard let openssl = Tool.installed("openssl") else {
            throw NotInstalled(description: "openssl is not installed")
        }
        _ = try await ChildProcess.output(of: openssl, arguments, deadline: .seconds(20))
    }
}
