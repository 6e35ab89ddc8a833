extension NetworkPolicy {
    /// Only addresses that anybody on the internet can reach: for URLs that strangers give.
    ///
    /// Refuses this machine (loopback, unspecified), networks of one's own (RFC 1918, link-local with the metadata services of
    /// clouds, unique-local, shared `100.64.0.0/10`), multicast, broadcast, and what is reserved, for documentation or for
    /// benchmarks. To open a door, put a rule in front: `policy.addresses.insert(.allow("10.0.0.5/32"), at: 0)`.
    public static let publicInternetOnly = NetworkPolicy(addresses: publicAddresses)

    /// After IANA's registries of special-purpose addresses; of IPv6 only what is global unicast, and NAT64, whose IPv4
    /// address is judged besides.
    private static let publicAddresses: [Rule<AddressRange>] = [
        .deny("0.0.0.0/8"),  // "this network"; 0.0.0.0 reaches this machine
        .deny("10.0.0.0/8"),
        .deny("100.64.0.0/10"),  // shared by a provider's customers
        .deny("127.0.0.0/8"),
        .deny("169.254.0.0/16"),
        .deny("172.16.0.0/12"),
        .deny("192.0.0.0/24"),
        .deny("192.0.2.0/24"),
        .deny("192.88.99.0/24"),
        .deny("192.168.0.0/16"),
        .deny("198.18.0.0/15"),
        .deny("198.51.100.0/24"),
        .deny("203.0.113.0/24"),
        .deny("224.0.0.0/4"),
        .deny("240.0.0.0/4"),
        .deny("::/128"),
        .deny("::1/128"),
        .deny("fc00::/7"),
        .deny("fe80::/10"),
        .deny("ff00::/8"),
        .deny("2001:2::/48"),
        .deny("2001:10::/28"),
        .deny("2001:20::/28"),
        .deny("2001:db8::/32"),
        .deny("3fff::/20"),
        .allow("2000::/3"),
        .allow("64:ff9b::/96"),
        .deny("::/0"),
    ]
}
