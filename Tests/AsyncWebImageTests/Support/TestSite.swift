import AsyncWebImage
import HTTPTransport
import HTTPTypes
import TestSupport

/// Files on an nginx that speaks one version of HTTP, and the settings for loaders.
struct TestSite {
    enum Version: CaseIterable {
        case http1
        /// With TLS.
        case http2
    }

    private let server: NginxServer
    private let version: Version
    private let authorityFile: String?

    /// A site with `files`, started with `directives` in its `server` block.
    init(_ version: Version, _ files: [String: [UInt8]] = [:], directives: String = "") async throws {
        self.version = version
        server = try NginxServer()
        switch version {
        case .http1: authorityFile = nil
        case .http2:
            let authority = try CertificateAuthority(for: server)
            try authority.makeKey("server")
            try authority.sign("server", key: "server")
            authorityFile = authority.file
        }
        for (name, bytes) in files { try write(bytes, to: name) }
        try await start(directives)
    }

    /// Writes a file, or replaces an existing one.
    func write(_ bytes: [UInt8], to name: String) throws { try server.write(bytes, to: name) }

    /// Starts the stopped server again, on the same port.
    func start(_ directives: String = "") async throws {
        let listener =
            switch version {
            case .http1: "listen 127.0.0.1:\(server.ports[0]);"
            case .http2:
                """
                listen 127.0.0.1:\(server.ports[0]) ssl http2;
                ssl_certificate \(server.path("server.pem")); ssl_certificate_key \(server.path("server.key"));
                """
            }
        try await server.start("server { \(listener) \(directives) }")
    }

    /// Stops the server at once, even in the middle of responses.
    func stop() { server.stop() }

    func url(_ name: String) -> String {
        "\(version == .http1 ? "http" : "https")://127.0.0.1:\(server.ports[0])/\(name)"
    }

    /// A loader without deadlines that trusts the site, with `slots` downloads at a time.
    func loader(
        slots: Int = 6, retry: (any RetryPolicy)? = nil, clock: any Clock<Duration> = ContinuousClock()
    ) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.maximumConcurrentDownloads = slots
        configuration.downloads.maximumConcurrentDownloadsPerHost = slots
        configuration.downloads.maximumConnectionsPerHost = slots
        configuration.downloads.retry = retry
        configuration.transport.proxy = .none
        configuration.transport.tls.certificateAuthorityFile = authorityFile
        return ImageLoader(configuration: configuration, clock: clock)
    }
}

extension ResponseBody {
    /// The number that nginx assigned to the connection of this response.
    var connection: String? {
        HTTPField.Name("X-Connection").flatMap { head.response.headerFields[$0] }
    }
}
