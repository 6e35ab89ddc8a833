import ArgumentParser
import AsyncWebImage

/// The options for downloads.
struct RequestOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The number of times a failed download is retried: after a random delay, whose maximum doubles each time, or "
                + "when the server requests. An interrupted download is resumed if the server allows it. All attempts "
                + "combined may take 600 seconds, or --timeout if that is more.",
            valueName: "number"))
    var retries = 2

    @Option(
        help: ArgumentHelp(
            "The maximum time to wait for data from a server. If it is below 8 or 10, it also limits name resolution and "
                + "connecting; above 600, the whole download.",
            valueName: "seconds"))
    var timeout = 15.0

    @Option(
        help: ArgumentHelp(
            "Send this header field, \"Name: value\". Can be repeated. Redirects to another scheme, host, or port "
                + "forward only Accept, Accept-Encoding, Accept-Language, Cache-Control, User-Agent, Range, and If-...",
            valueName: "field"),
        transform: Self.headerField)
    var header: [HTTPField] = []

    @Flag(
        help: """
            Fail on redirects from https to http. Without this option, only requests with credentials fail: with user and \
            password in the URL, or Authorization, Cookie or Proxy-Authorization as --header.
            """)
    var noInsecureRedirects = false

    func validate() throws {
        guard (0...100).contains(retries) else { throw ValidationError("--retries must be from 0 to 100.") }
        guard timeout > 0, timeout <= 86_400 else {
            throw ValidationError("--timeout must be above 0 and at most 86400 seconds.")
        }
    }

    /// The configuration of downloads.
    var downloads: DownloadConfiguration {
        var downloads = DownloadConfiguration()
        downloads.retry = retries > 0 ? ExponentialBackoff(maximumAttempts: retries + 1) : nil
        let timeout = Duration.seconds(timeout)
        downloads.deadlines.lookup = downloads.deadlines.lookup.map { min($0, timeout) }
        downloads.deadlines.connect = downloads.deadlines.connect.map { min($0, timeout) }
        downloads.deadlines.firstByte = timeout
        downloads.deadlines.idle = timeout
        downloads.deadlines.total = downloads.deadlines.total.map { max($0, timeout) }
        if noInsecureRedirects { downloads.redirectPolicy.insecureRedirects = .refused }
        for field in header { downloads.headerFields[values: field.name] = [] }
        for field in header { downloads.headerFields.append(field) }
        return downloads
    }

    private static func headerField(_ text: String) throws -> HTTPField {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let name = HTTPField.Name(String(parts[0])), !parts[1].contains(where: \.isNewline)
        else {
            throw ValidationError("\(text) is not a header field: write \"Name: value\".")
        }
        guard !["host", "content-length", "transfer-encoding"].contains(name.canonicalName) else {
            throw ValidationError("\(name.rawName) cannot be set: it is derived from the URL.")
        }
        return HTTPField(name: name, value: String(parts[1].drop { $0 == " " }))
    }
}
