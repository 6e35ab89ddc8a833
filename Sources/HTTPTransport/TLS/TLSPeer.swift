/// The server that a certificate must be for.
struct TLSPeer: Hashable {
    /// The name, without a final dot, or the text of an address, without brackets and zone.
    let host: String
    let isAddress: Bool
    let port: Int

    /// Creates the peer for `host`, in the format of ``HTTPURL/host`` or the text of an address.
    init(host: String, port: Int) {
        self.port = port
        isAddress = IPAddress(urlHost: host) != nil
        self.host =
            if isAddress {
                String(host.drop { $0 == "[" }.prefix { $0 != "]" && $0 != "%" })
            } else {
                host.hasSuffix(".") ? String(host.dropLast()) : host
            }
    }
}
