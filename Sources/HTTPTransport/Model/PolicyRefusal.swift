/// Why a ``NetworkPolicy`` refuses a URL or an address.
public struct PolicyRefusal: Sendable, Hashable, CustomStringConvertible {
    /// What was refused: `address 127.0.0.1`.
    public let subject: String
    /// What refused it: `deny 127.0.0.0/8`.
    public let rule: String

    /// What was refused, and the rule.
    public var description: String { "\(subject), rule: \(rule)" }
}
