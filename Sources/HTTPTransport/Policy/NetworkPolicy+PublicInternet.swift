extension NetworkPolicy {
    /// A policy that allows only publicly reachable addresses, for untrusted URLs.
    ///
    /// The policy refuses loopback and unspecified addresses, private addresses (RFC 1918), unique-local addresses, the
    /// shared range `100.64.0.0/10`, link-local addresses, which include cloud metadata services, and multicast,
    /// broadcast, and reserved addresses, including those for documentation or benchmarking. It also refuses the ports
    /// of other protocols, such as mail, that browsers block (Fetch, section 2.9), and those of Redis and memcached. To
    /// allow an exception, insert a rule at the front: `policy.addresses.insert(.allow("10.0.0.5/32"), at: 0)`.
    public static let publicInternetOnly = NetworkPolicy(ports: portsOfOthers, addresses: publicAddresses)

    /// The bad ports of the Fetch standard, and those of Redis and memcached, which execute the lines of a request as
    /// commands.
    private static let portsOfOthers: [Rule<ClosedRange<Int>>] = [
        1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
        110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530,
        531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1_719, 1_720, 1_723, 2_049, 3_659, 4_045,
        4_190, 5_060, 5_061, 6_000, 6_379, 6_566, 6_665, 6_666, 6_667, 6_668, 6_669, 6_679, 6_697, 10_080, 11_211,
    ].map { .deny($0...$0) }

    /// From IANA's registries of special-purpose addresses (as of October 2025).
    ///
    /// IPv6 is limited to global unicast and to NAT64, whose IPv4 address is also checked. Some blocks that the
    /// registries call globally reachable are refused as well, because no ordinary host uses them: the anycast
    /// addresses of PCP, TURN, and DNS-SD (192.0.0.9, 192.0.0.10, 2001:1::1 to 2001:1::3) and of AMT (2001:3::/32)
    /// are answered by the nearest device, which can be a local router; ORCHIDv2 and drone addresses (2001:20::/28,
    /// 2001:30::/28) are hashes of keys, which do not identify a network.
    private static let publicAddresses: [Rule<AddressRange>] = [
        .deny("0.0.0.0/8"),  // "this network"; 0.0.0.0 reaches the local machine
        .deny("10.0.0.0/8"),
        .deny("100.64.0.0/10"),  // shared by a provider's customers
        .deny("127.0.0.0/8"),
        .deny("169.254.0.0/16"),
        .deny("172.16.0.0/12"),
        .deny("192.0.0.0/24"),  // protocol assignments
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
        .allow("2001:4:112::/48"),  // AS112's name servers
        .deny("2001::/23"),  // protocol assignments
        .deny("2001:db8::/32"),
        .deny("3fff::/20"),
        .allow("2000::/3"),
        .allow("64:ff9b::/96"),
        .deny("::/0"),
    ]
}
