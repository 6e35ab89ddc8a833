/// All addresses that begin with the same bits: `10.0.0.0/8`, `fe80::/10`.
public struct AddressRange: Sendable, Hashable {
    /// The first address of the range.
    public let base: IPAddress
    /// How many bits its addresses have in common.
    public let prefixLength: Int

    /// Reads an address, a slash and the number of bits that count (RFC 4632, 4291); an address alone is a range of one.
    ///
    /// Nil if the text is no such range. Bits behind those that count are ignored.
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
    /// How many bits it has.
    fileprivate var width: Int { isIPv4 ? 32 : 128 }
}

extension AddressRange: CustomStringConvertible {
    /// As it is read: `10.0.0.0/8`.
    public var description: String { "\(base)/\(prefixLength)" }
}

extension AddressRange: ExpressibleByStringLiteral {
    /// A range written in the program; a text that is none ends it.
    public init(stringLiteral text: String) {
        guard let range = AddressRange(text) else { preconditionFailure("\(text) is no range of addresses") }
        self = range
    }
}
