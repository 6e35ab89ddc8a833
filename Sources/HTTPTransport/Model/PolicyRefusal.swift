/// The reason why a ``NetworkPolicy`` refuses a URL or an address.
public struct PolicyRefusal: Sendable, Hashable, CustomStringConvertible {
    /// The refused subject, for example `address 127.0.0.1`.
    public let subject: String
    /// The rule that refused the subject, for example `deny 127.0.0.0/8`.
    public let rule: String

    /// The subject and the rule.
    public var description: String { "\(subject), rule: \(rule)" }
}
