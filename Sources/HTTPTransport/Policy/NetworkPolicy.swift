/// Who may be talked to.
///
/// There are four lists of rules, and a request has to pass them all. In each list the first rule that applies decides;
/// what no rule applies to is allowed. Schemes, hosts and ports are judged before every hop, the first request and each
/// redirect. Addresses are judged when they stand in the URL, when the host's name has been looked up, before a connection is
/// opened to any of them, and again before a connection that already stood is used. Of a host's addresses only those
/// that are allowed are tried.
///
/// An IPv6 address that holds an IPv4 address (6to4, NAT64, Teredo, ISATAP, IPv4-compatible) is refused if either is.
public struct NetworkPolicy: Sendable, Hashable {
    /// What becomes of some of the schemes, hosts, ports or addresses.
    public enum Rule<Subject: Sendable & Hashable>: Sendable, Hashable {
        /// These may be talked to, whatever later rules say.
        case allow(Subject)
        /// These must not be talked to.
        case deny(Subject)
        /// What no earlier rule applies to must not be talked to.
        case denyOthers
    }

    /// Rules for `http` and `https`.
    public var schemes: [Rule<String>]
    /// Rules for the host in the URL, be it a name or an address.
    public var hosts: [Rule<HostPattern>]
    /// Rules for the port, given or implied.
    public var ports: [Rule<ClosedRange<Int>>]
    /// Rules for addresses.
    public var addresses: [Rule<AddressRange>]
    /// A Boolean value that indicates whether a proxy may be given names to look up though there are rules for addresses.
    ///
    /// A proxy looks names up itself, so that nobody here sees the addresses. Unless it is trusted to keep to the rules
    /// itself, names are refused where a request would go through a proxy. The proxy's own address is not judged.
    public var trustsProxy: Bool

    /// Everything is allowed unless rules are given.
    public init(
        schemes: [Rule<String>] = [], hosts: [Rule<HostPattern>] = [], ports: [Rule<ClosedRange<Int>>] = [],
        addresses: [Rule<AddressRange>] = [], trustsProxy: Bool = false
    ) {
        self.schemes = schemes
        self.hosts = hosts
        self.ports = ports
        self.addresses = addresses
        self.trustsProxy = trustsProxy
    }

    /// Why something must not be talked to.
    public typealias Refusal = PolicyRefusal

    /// A Boolean value that indicates whether there is nothing to judge.
    var allowsAll: Bool { schemes.isEmpty && hosts.isEmpty && ports.isEmpty && addresses.isEmpty }

    /// Why `url` must not be fetched, as far as it can be told before its host is looked up; nil if it may.
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
        guard throughProxy, !trustsProxy else { return nil }
        return Refusal(
            subject: "host \(url.host) through a proxy",
            rule: "addresses are judged, and only the proxy would know them")
    }

    /// Why there must be no connection to `address`; nil if there may.
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
    /// The rule that denies what `applies` is about, in words; nil if it is allowed.
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
    /// Ports as people write them: `25`, `6665-6669`.
    fileprivate var words: String { lowerBound == upperBound ? "\(lowerBound)" : "\(lowerBound)-\(upperBound)" }
}
