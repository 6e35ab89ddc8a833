/// Rules that restrict the schemes, hosts, ports, and addresses of requests.
///
/// There are four lists of rules, and a request must pass all of them. In each list, the first rule that applies
/// decides; if no rule applies, the request is allowed. Schemes, hosts, and ports are checked before every hop: the
/// first request and each redirect. Addresses, from the URL or from name resolution, are checked before a connection is
/// opened or reused. Only the allowed addresses of a host are tried.
///
/// An IPv6 address that embeds an IPv4 address (6to4, NAT64, Teredo, ISATAP, IPv4-compatible) is refused if either
/// is.
public struct NetworkPolicy: Sendable, Hashable {
    /// A rule that allows or denies schemes, hosts, ports, or addresses.
    public enum Rule<Subject: Sendable & Hashable>: Sendable, Hashable {
        /// Allows the subject, regardless of later rules.
        case allow(Subject)
        /// Denies the subject.
        case deny(Subject)
        /// Denies everything to which no earlier rule applies.
        case denyOthers
    }

    /// The rules for `http` and `https`.
    public var schemes: [Rule<String>]
    /// The rules for the host in the URL, a name or an address.
    public var hosts: [Rule<HostPattern>]
    /// The rules for the port in the URL, or the default port of its scheme.
    public var ports: [Rule<ClosedRange<Int>>]
    /// The rules for addresses.
    public var addresses: [Rule<AddressRange>]
    /// A Boolean value that indicates whether a proxy may resolve names even if there are rules for addresses.
    ///
    /// A proxy resolves names itself, so the addresses cannot be checked here. Unless the proxy is trusted to enforce
    /// the rules, requests for names through a proxy are refused. The proxy's own address is not checked.
    public var resolvesNamesThroughProxy: Bool

    /// Creates a policy; by default, everything is allowed.
    public init(
        schemes: [Rule<String>] = [], hosts: [Rule<HostPattern>] = [], ports: [Rule<ClosedRange<Int>>] = [],
        addresses: [Rule<AddressRange>] = [], resolvesNamesThroughProxy: Bool = false
    ) {
        self.schemes = schemes
        self.hosts = hosts
        self.ports = ports
        self.addresses = addresses
        self.resolvesNamesThroughProxy = resolvesNamesThroughProxy
    }

    /// The reason for a refusal.
    public typealias Refusal = PolicyRefusal

    /// A Boolean value that indicates whether there are no rules.
    var allowsAll: Bool { schemes.isEmpty && hosts.isEmpty && ports.isEmpty && addresses.isEmpty }

    /// Returns the reason why `url` must not be fetched, as far as known before its host is resolved; `nil` if it is
    /// allowed.
    func refusal(of url: HTTPURL, throughProxy: Bool) -> Refusal? {
        if let rule = schemes.denial(where: { $0.lowercased() == url.scheme }) {
            return Refusal(subject: "scheme \(url.scheme)", rule: rule)
        }
        if let rule = hosts.denial(where: { $0.matches(url.host) }) {
            return Refusal(subject: "host \(url.host)", rule: rule)
        }
        if let rule = ports.denial(words: \.words, where: { $0.contains(url.port) }) {
            return Refusal(subject: "port \(url.port)", rule: rule)
        }
        guard !addresses.isEmpty else { return nil }
        if let address = IPAddress(urlHost: url.host) { return refusal(of: address) }
        guard throughProxy, !resolvesNamesThroughProxy else { return nil }
        return Refusal(
            subject: "host \(url.host) through a proxy",
            rule: "addresses must be checked, and only the proxy resolves the name")
    }

    /// Returns the reason why connections to `address` are forbidden; `nil` if they are allowed.
    func refusal(of address: IPAddress) -> Refusal? {
        if let rule = addresses.denial(where: { $0.contains(address) }) {
            return Refusal(subject: "address \(address)", rule: rule)
        }
        for inner in address.embedded {
            if let rule = addresses.denial(where: { $0.contains(inner) }) {
                return Refusal(subject: "address \(address), which holds \(inner)", rule: rule)
            }
        }
        return nil
    }
}

extension Array {
    /// Returns the text of the rule that denies the subject that `applies` matches; `nil` if it is allowed.
    fileprivate func denial<Subject>(
        words: (Subject) -> String = { "\($0)" }, where applies: (Subject) -> Bool
    ) -> String?
    where Element == NetworkPolicy.Rule<Subject> {
        for rule in self {
            switch rule {
            case .allow(let subject): if applies(subject) { return nil }
            case .deny(let subject): if applies(subject) { return "deny \(words(subject))" }
            case .denyOthers: return "deny all others"
            }
        }
        return nil
    }
}

extension ClosedRange<Int> {
    /// The ports as text: `25`, `6665-6669`.
    fileprivate var words: String { lowerBound == upperBound ? "\(lowerBound)" : "\(lowerBound)-\(upperBound)" }
}
