import WebimageConsole
import ArgumentParser
import AsyncWebImage

import Glibc

/// The options for network access and TLS.
struct NetworkOptions: ParsableArguments {
    @Flag(
        help: """
            Connect only to public internet addresses, including after redirects: not to this machine, its networks, \
            or ports of other protocols, such as SMTP or Redis. Names that a proxy would have to resolve are refused as well.
            """)
    var publicOnly = false

    @Option(
        help: ArgumentHelp(
            "Use this proxy, such as http://user:password@host:3128, instead of those in the environment variables http_proxy, "
                + "https_proxy, and all_proxy. The scheme is http (the default), https, socks4, socks4a, socks5, or socks5h; "
                + "the default port is 443 for https, and 1080 otherwise. Hosts in the variable no_proxy are accessed "
                + "directly. An empty string means no proxy. Other users can see the arguments of a process: set "
                + "passwords in the environment.",
            valueName: "URL"))
    var proxy: String?

    @Option(
        help: ArgumentHelp(
            "Trust the certificate authorities of this file (PEM) instead of the system's. (default: the file that the "
                + "variable SSL_CERT_FILE names)", valueName: "file"))
    var cacert: String?

    @Option(
        help: ArgumentHelp(
            "Do not verify the certificate of this host, or of all hosts below a domain: *.example.com, or of any host: '*'. "
                + "Can be repeated.",
            valueName: "host"),
        transform: Self.hostPattern)
    var insecureHost: [HostPattern] = []

    func validate() throws {
        // Without the value, which can contain a password.
        if let proxy, !proxy.isEmpty, !ProxyRule.isProxy(proxy) {
            throw ValidationError("--proxy is not the URL of a proxy: write http://host:port or socks5h://host:port.")
        }
        // Otherwise the problem would only be reported for the first https URL.
        if let cacert, let error = ValidationError("--cacert", reading: cacert) { throw error }
    }

    /// The file of certificate authorities that replaces the system's; `nil` for none.
    private var authorities: String? {
        if let cacert { return cacert }
        let name = unsafe getenv("SSL_CERT_FILE").map { unsafe String(cString: $0) }
        return name.flatMap { FileError.reading($0) == nil ? $0 : nil }
    }

    /// The configuration of the transport.
    var transport: CurlTransport.Configuration {
        CurlTransport.Configuration(
            proxy: proxy.map { ProxyRule(argument: $0) } ?? .environment,
            tls: TLSOptions(certificateAuthorityFile: authorities, hostsWithoutVerification: Set(insecureHost)),
            policy: publicOnly ? .publicInternetOnly : NetworkPolicy())
    }

    private static func hostPattern(_ text: String) throws -> HostPattern {
        guard let pattern = HostPattern(text) else { throw ValidationError("\(text) is not a host name or address.") }
        return pattern
    }
}
