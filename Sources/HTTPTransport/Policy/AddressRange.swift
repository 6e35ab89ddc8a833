/// A range of addresses with a common prefix: `10.0.0.0/8`, `fe80::/10`.
public struct AddressRange: Sendable, Hashable {
    /// The first address of the range.
    public let base: IPAddress
    /// The number of bits that its addresses have in common.
    public let prefixLength: Int

    /// Parses an address, a slash, and the length of the prefix in bits (RFC 4632, 4291); a single address is a range
    /// of one.
    ///
    /// Returns `nil` if the text is not such a range. Bits after the prefix are ignored.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(String(first)) else { return nil }
        let isMapped = address.isIPv4 && first.contains(":")
        var length = address.width
        if parts.count == 2 {
            guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy(\.isASCIIDigit),
                let given = Int(parts[1])
            else { return nil }
            // ::ffff:10.0.0.0/104 is 10.0.0.0/8.
            length = isMapped ? given - 96 : given
        }
        guard (0...address.width).contains(length) else { return nil }
        self.init(base: address, prefixLength: length)
    }

    private init(base: IPAddress, prefixLength: Int) {
        let rest = base.width - prefixLength
        let bits = (base.bits >> rest) << rest
        self.base = base.isIPv4 ? IPAddress(v4: UInt32(truncatingIfNeeded: bits)) : IPAddress(v6: bits)
        self.prefixLength = prefixLength
    }

    /// Returns whether `address` is in the range.
    public func contains(_ address: IPAddress) -> Bool {
        address.isIPv4 == base.isIPv4 && (address.bits ^ base.bits) >> (base.width - prefixLength) == 0
    }
}

extension IPAddress {
    /// The number of bits of the address.
    fileprivate var width: Int { isIPv4 ? 32 : 128 }
}

extension AddressRange: CustomStringConvertible {
    /// The range in the format from which it is parsed, such as `10.0.0.0/8`.
    public var description: String { "\(base)/\(prefixLength)" }
}

extension AddressRange: ExpressibleByStringLiteral {
    /// Creates a range from a literal; traps if the text is not a range.
    public init(stringLiteral text: String) {
        guard let range = AddressRange(text) else { preconditionFailure("\(text) is not an address range") }
        self = range
    }
}
