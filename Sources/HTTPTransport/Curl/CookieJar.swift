import CCurl

/// The cookies of all transfers of a transport that handle any.
///
/// Confined to the transport's thread.
final class CookieJar {
    private let share: CurlShare
    /// Where the first cookies come from; empty for none, and once they are here.
    private var file: String

    init(file: String?) throws(CurlOptionFailure) {
        share = try CurlShare(sharesCookies: true)
        self.file = file ?? ""
    }

    /// Has `easy` send and take cookies from now on, until its end.
    func open(for easy: CurlEasy) throws(CurlOptionFailure) {
        try share.attach(to: easy)
        try easy.set(CURLOPT_COOKIEFILE, file)
        // Read again, it would bring back what servers have taken away.
        file = ""
        easy.handlesCookies = true
    }
}
