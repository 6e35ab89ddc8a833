import ArgumentParser
import AsyncWebImage

/// Who may be talked to, and how.
struct NetworkOptions: ParsableArguments {
    @Flag(
        help: """
            Talk to nobody but public addresses of the internet, wherever names and redirects lead: not to this machine, \
            nor to its networks.
            """)
    var publicOnly = false

    /// The transport's settings.
    var transport: CurlTransport.Configuration {
        CurlTransport.Configuration(policy: publicOnly ? .publicInternetOnly : NetworkPolicy())
    }
}
