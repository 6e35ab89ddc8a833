import CCurl

/// The cookies shared by the transfers of a transport that handle cookies.
///
/// Confined to the transport's thread.
final class CookieJar {
    private let share: CurlShare
    /// The file of initial cookies; empty if there is none or it has been loaded.
    private var file: String

    init(file: String?) throws(CurlOptionFailure) {
        share = try CurlShare(sharesCookies: true)
        self.file = file ?? ""
    }

    /// Makes `easy` send and store cookies until it is destroyed.
    func open(for easy: CurlEasy) throws(CurlOptionFailure) {
        try share.attach(to: easy)
        try easy.set(CURLOPT_COOKIEFILE, file)
        // Loading it again would restore cookies that servers have deleted.
        file = ""
        easy.handlesCookies = true
    }
}
