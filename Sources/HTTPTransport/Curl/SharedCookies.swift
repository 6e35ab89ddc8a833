import CCurl
import Threading

/// The cookies shared by the transfers of a transport that handle cookies, on all of its threads.
final class SharedCookies: Sendable {
    private let file: String?
    /// The cookies; `nil` until the first request that handles cookies.
    private let share = Locked<CurlShare?>(nil)

    init(file: String?) {
        self.file = file
    }

    /// Makes `easy` send and store the cookies until it is destroyed.
    func open(for easy: CurlEasy) throws(CurlOptionFailure) {
        try opened().attach(to: easy)
        // Enables cookies for the handle without a file.
        try easy.set(CURLOPT_COOKIEFILE, "")
    }

    private func opened() throws(CurlOptionFailure) -> CurlShare {
        try share.withLock { share throws(CurlOptionFailure) in
            if let share { return share }
            let new = try CurlShare(sharesCookies: true)
            // Only once: loading it again would restore cookies that servers have deleted.
            if let file { try new.loadCookies(file) }
            share = new
            return new
        }
    }
}
