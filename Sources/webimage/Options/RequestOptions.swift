import ArgumentParser
import AsyncWebImage

/// The options for downloads.
struct RequestOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The number of retries after a temporary failure. Each waits for a random delay, whose maximum doubles each "
                + "time, or for the time that the server requests; if that is over 60 seconds, there is no retry. An interrupted download is resumed if the server "
                + "supports it.",
            valueName: "number"))
    var retries = 2

    @Option(
        help: ArgumentHelp(
            "The maximum time to wait for the first data of a response, and for more data after that. A value below 8 also "
                + "shortens the limit of 8 seconds for name resolution, and one below 10 the limit of 10 seconds for "
                + "connecting.",
            valueName: "seconds"))
    var timeout = 15.0

    @Option(
        help: ArgumentHelp(
            "The maximum time for a URL: all its attempts, redirects, and the delays between them; waits for a reader of the "
                + "output do not count. (default: 60 with batch; otherwise 600, or --timeout if that is longer)",
            valueName: "seconds"))
    var deadline: Double?

    @Option(
        help: ArgumentHelp(
            "Send this header field, \"Name: value\". Can be repeated. User-Agent is webimage/VERSION by default. Redirects to another scheme, host, or port "
                + "forward only Accept, Accept-Encoding, Accept-Language, Cache-Control, User-Agent, Range, and If-...",
            valueName: "field"),
        transform: Self.headerField)
    var header: [HTTPField] = []

    @Option(
        help: ArgumentHelp(
            "Send the cookies in this file (in the Netscape format, as curl and browser extensions write it), and those that "
                + "servers set during the run. With an empty name, there are none at the beginning. Cached responses are not "
                + "used.", valueName: "file"))
    var cookies: String?

    @Flag(
        help: """
            Fail on redirects from https to http. Without this option, such redirects fail only for requests with \
            credentials: a user name and password in the URL, or the header fields Authorization, Cookie, or \
            Proxy-Authorization.
            """)
    var noInsecureRedirects = false

    func validate() throws {
        guard (0...100).contains(retries) else { throw ValidationError("--retries must be from 0 to 100.") }
        guard timeout > 0, timeout <= 86_400 else {
            throw ValidationError("--timeout must be above 0 and at most 86400 seconds.")
        }
        if cookies != nil, header.contains(where: { $0.name == .cookie }) {
            throw ValidationError("--cookies and --header 'Cookie: ...' cannot be combined.")
        }
        if let cookieFile, let reason = Self.problem(withCookies: cookieFile) {
            throw ValidationError("--cookies: \(reason).")
        }
        if let deadline, !(deadline > 0 && deadline <= 86_400) {
            throw ValidationError("--deadline must be above 0 and at most 86400 seconds.")
        }
    }

    /// The file of the initial cookies; `nil` for none.
    var cookieFile: String? { cookies?.isEmpty == true ? nil : cookies }

    /// Returns the reason why the file at `path` has no cookies; `nil` if it has some, or is empty.
    private static func problem(withCookies path: String) -> String? {
        do {
            let bytes = try ImageFile(path: path).bytes(limit: 16 << 20)
            let lines = bytes.split(separator: UInt8(ascii: "\n")).filter { $0.contains { !$0.isBlank } }
            let hasCookies = lines.contains { $0.count(where: { $0 == UInt8(ascii: "\t") }) >= 6 }
            let isEmpty = lines.allSatisfy { $0.first == UInt8(ascii: "#") }
            return hasCookies || isEmpty
                ? nil : "\(path) is not in the Netscape format, which has 7 columns between tabs"
        } catch {
            return "\(path): \(error)"
        }
    }

    /// The name and version of the command, for `User-Agent`.
    static let userAgent = "webimage/\(PackageVersion.current)"

    /// The configuration of downloads.
    var downloads: DownloadConfiguration {
        var downloads = DownloadConfiguration()
        downloads.retry = retries > 0 ? ExponentialBackoff(maximumAttempts: retries + 1) : nil
        let timeout = Duration.seconds(timeout)
        downloads.deadlines.lookup = downloads.deadlines.lookup.map { min($0, timeout) }
        downloads.deadlines.connect = downloads.deadlines.connect.map { min($0, timeout) }
        downloads.deadlines.firstByte = timeout
        downloads.deadlines.idle = timeout
        downloads.deadlines.total = deadline.map { .seconds($0) } ?? downloads.deadlines.total.map { max($0, timeout) }
        if noInsecureRedirects { downloads.redirectPolicy.insecureRedirects = .refused }
        downloads.headerFields[.userAgent] = Self.userAgent
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
            throw ValidationError("\(name.rawName) cannot be set: it is derived from the request.")
        }
        return HTTPField(name: name, value: String(parts[1].drop { $0 == " " }))
    }
}
