import ArgumentParser
import AsyncWebImage

/// The options of `webimage batch` for the images that are accepted.
struct BatchRuleOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Accept only images whose width and height are at least this many pixels. The download of a smaller image stops "
                + "after its header.", valueName: "pixels"))
    var minImageSize: Int?

    @Option(help: ArgumentHelp("Accept only images with at most this many pixels in total.", valueName: "pixels"))
    var maxImageArea: Int?

    @Option(
        help: ArgumentHelp(
            "Accept only images whose longer side is at most this multiple of the shorter one.", valueName: "ratio"))
    var maxAspectRatio: Double?

    @Option(
        help: ArgumentHelp(
            "The directives of X-Robots-Tag that exclude an image, separated by commas; noindex also covers the directive "
                + "none. An empty string turns the check off.",
            valueName: "names"))
    var disallowedHeaderDirectives = "noai,noimageai,noindex,noimageindex"

    @Flag(
        name: .customLong("robots-txt"),
        help: """
            Request robots.txt (RFC 9309) of each origin (scheme, host, and port), once a day, and exclude the URLs that it \
            disallows for the name of --user-agent-token, or webimage by default. Without the file, all URLs are allowed. If \
            the response has status 429, or 500 or higher, the URLs of the origin fail with retryable errors; if the \
            connection fails, they fail with the same error. --deadline applies to the file and the image separately. \
            Redirects of images are not checked.
            """)
    var robotsText = false

    @Option(
        help: ArgumentHelp(
            "The name of your crawler. It is sent in User-Agent; directives in X-Robots-Tag and, with --robots-txt, rules in "
                + "robots.txt that are addressed to this name apply.", valueName: "name"))
    var userAgentToken: String?

    func validate() throws {
        if let minImageSize, minImageSize < 1 { throw ValidationError("--min-image-size must be at least 1.") }
        if let maxImageArea, maxImageArea < 1 { throw ValidationError("--max-image-area must be at least 1.") }
        if let maxAspectRatio, !(maxAspectRatio >= 1) {
            throw ValidationError("--max-aspect-ratio must be at least 1.")
        }
        if let userAgentToken, userAgentToken.isEmpty || !userAgentToken.utf8.allSatisfy({ (0x21..<0x7F).contains($0) })
        {
            throw ValidationError("--user-agent-token must be a word of ASCII characters.")
        }
    }

    var filter: SizeFilter {
        SizeFilter(minimumSide: minImageSize, maximumArea: maxImageArea, maximumAspectRatio: maxAspectRatio)
    }

    /// The rule for X-Robots-Tag; `nil` if nothing is disallowed.
    var robotsTags: RobotsTagRule? {
        let directives = disallowedHeaderDirectives.split(separator: ",").map { name in
            name.lowercased().filter { $0 != " " }
        }
        guard !directives.isEmpty else { return nil }
        return RobotsTagRule(
            disallowed: Set(directives), names: ["webimage", robotsToken.lowercased()])
    }

    /// The name of the crawler in robots.txt.
    var robotsToken: String { userAgentToken ?? "webimage" }
}
