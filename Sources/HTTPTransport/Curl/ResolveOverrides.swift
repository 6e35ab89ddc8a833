/// The addresses passed to libcurl, by host and port, and their expiration.
///
/// libcurl's cache serves all transfers, and parsing a list again is expensive.
struct ResolveOverrides {
    private var expiries: [String: MonotonicInstant] = [:]
    private static let limit = 10_000

    /// Returns the addresses of the transfer's host that libcurl does not know yet, to be passed with the transfer.
    func updates(_ addresses: DNSCache.Addresses, for transfer: CurlTransfer) -> [IPAddress]? {
        let key = "\(transfer.request.url.host):\(transfer.request.url.port)"
        if expiries[key] == addresses.expiry { return nil }
        transfer.pendingOverride = (key, addresses.expiry)
        return addresses.list
    }

    /// Records the addresses that libcurl knows now because it has, or had, the transfer.
    mutating func note(_ transfer: CurlTransfer) {
        guard let (key, expiry) = transfer.pendingOverride else { return }
        transfer.pendingOverride = nil
        guard transfer.clock.phase != .connecting else { return }
        if expiries.count >= Self.limit { expiries.removeAll() }
        expiries[key] = expiry
    }
}
