/// A certificate authority for a server's folder: `ca.pem`, with `ca.key`.
package struct CertificateAuthority {
    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    private let server: NginxServer

    /// The certificate that clients trust.
    package var file: String { server.path("ca.pem") }

    /// Makes the authority's certificate.
    package init(for server: NginxServer) throws {
        self.server = server
        try server.write(Array("subjectAltName=IP:127.0.0.1,DNS:photos.example".utf8), to: "names")
        try Programs.run(
            "openssl",
            ["req", "-x509", "-subj", "/CN=authority", "-days", "2", "-keyout", server.path("ca.key")]
                + ["-out", server.path("ca.pem")] + Self.newKey)
    }

    /// Makes a key, `name.key`, and its certificate signing request, `name.csr`.
    package func makeKey(_ name: String) throws {
        try Programs.run(
            "openssl",
            ["req", "-new", "-subj", "/CN=\(name)", "-keyout", server.path("\(name).key")]
                + ["-out", server.path("\(name).csr")] + Self.newKey)
    }

    /// Signs the certificate `name.pem` of a key for 127.0.0.1 and `photos.example`, valid for `days`; with 0, it has
    /// expired.
    package func sign(_ name: String, key: String, days: Int = 2) throws {
        try Programs.run(
            "openssl",
            ["x509", "-req", "-in", server.path("\(key).csr"), "-CA", file, "-CAkey", server.path("ca.key")]
                + ["-CAcreateserial", "-days", "\(days)", "-extfile", server.path("names")]
                + ["-out", server.path("\(name).pem")])
    }
}
