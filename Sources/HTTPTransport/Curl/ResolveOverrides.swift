/// The addresses passed to libcurl, by host and port, and their expiration.
///
/// libcurl's cache serves all transfers, and parsing a list again is expensive.
struct ResolveOverrides {
    /// The addresses of a host and port.
    struct Entry {
        /// The host and port.
        let key: String
        let addresses: DNSCache.Addresses
    }

    private var expiries: [String: MonotonicInstant] = [:]
    private static let limit = 10_000

    /// Returns the addresses of a URL's host that libcurl does not know yet, to be passed with the request.
    func update(_ addresses: DNSCache.Addresses, for url: HTTPURL) -> Entry? {
        let key = "\(url.host):\(url.port)"
        return expiries[key] == addresses.expiry ? nil : Entry(key: key, addresses: addresses)
    }

    /// Records the addresses that libcurl knows, because it has connected to one of them.
    mutating func note(_ entry: Entry) {
        if expiries.count >= Self.limit { expiries.removeAll() }
        expiries[entry.key] = entry.addresses.expiry
    }
}
