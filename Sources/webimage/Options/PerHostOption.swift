import ArgumentParser
import AsyncWebImage

/// The option that limits the downloads from one host.
struct PerHostOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The maximum number of transfers at a time from one host, over HTTP/1.1 and HTTP/2. "
                + "(default: 6, or 32 if the host speaks HTTP/2)", valueName: "number"))
    var perHost: Int?

    func validate() throws {
        if let perHost, perHost < 1 { throw ValidationError("--per-host must be at least 1.") }
    }

    /// Sets the limits for one of the processes among which they are divided; each keeps at least 1 transfer.
    func apply(to downloads: inout DownloadConfiguration, sharers: Int = 1) {
        if let perHost {
            downloads.maximumConcurrentDownloadsPerHost = perHost
            downloads.maximumConnectionsPerHost = perHost
        }
        downloads.maximumConcurrentDownloadsPerHost = max(1, downloads.maximumConcurrentDownloadsPerHost / sharers)
        downloads.maximumConnectionsPerHost = max(1, downloads.maximumConnectionsPerHost / sharers)
    }
}
