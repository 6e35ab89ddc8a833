/// The addresses that libcurl was given, by host and port, and how long they are good for.
///
/// Its cache serves all transfers, and parsing a list again costs.
struct GivenAddresses {
    private var expiries: [String: ContinuousClock.Instant] = [:]
    private static let limit = 10_000

    /// What libcurl does not know yet of the addresses of the transfer's host; it is given them with the transfer.
    func news(_ addresses: AddressBook.Addresses, for transfer: CurlTransfer) -> [IPAddress]? {
        let key = "\(transfer.request.url.host):\(transfer.request.url.port)"
        if expiries[key] == addresses.expiry { return nil }
        transfer.addressesToGive = (key, addresses.expiry)
        return addresses.list
    }

    /// Notes what libcurl knows now that it has, or had, the transfer.
    mutating func note(_ transfer: CurlTransfer) {
        guard let (key, expiry) = transfer.addressesToGive else { return }
        transfer.addressesToGive = nil
        guard transfer.clock.phase != .connecting else { return }
        if expiries.count >= Self.limit { expiries.removeAll() }
        expiries[key] = expiry
    }
}
