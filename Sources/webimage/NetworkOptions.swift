import WebimageConsole
import ArgumentParser
import AsyncWebImage

/// Who may be talked to, and how.
struct NetworkOptions: ParsableArguments {
    @Flag(
        help: """
            Talk to nobody but public addresses of the internet, wherever names and redirects lead: not to this machine, \
            nor to its networks, nor to the ports of other protocols that browsers block. Names that a proxy would have to \
            look up are refused, too.
            """)
    var publicOnly = false

    @Option(
        help: ArgumentHelp(
            "Trust the certificate authorities of this file (PEM) instead of the system's.", valueName: "file"))
    var cacert: String?

    @Option(
        help: ArgumentHelp(
            "Do not look at the certificate of this host, or of all below a domain: *.example.com. May be repeated.",
            valueName: "host"),
        transform: Self.hostPattern)
    var insecureHost: [HostPattern] = []

    func validate() throws {
        // Otherwise the first https URL would be the first to find out.
        if let cacert, let error = FileError.reading(cacert) { throw ValidationError("--cacert: \(error).") }
    }

    /// The transport's settings.
    var transport: CurlTransport.Configuration {
        CurlTransport.Configuration(
            tls: TLSOptions(certificateAuthorityFile: cacert, insecureHosts: Set(insecureHost)),
            policy: publicOnly ? .publicInternetOnly : NetworkPolicy())
    }

    private static func hostPattern(_ text: String) throws -> HostPattern {
        guard let pattern = HostPattern(text) else { throw ValidationError("\(text) is no host.") }
        return pattern
    }
}
