import HTTPTransport

/// The path pattern of a rule in robots.txt (RFC 9309, section 2.2.3).
///
/// It matches paths that begin with it. `*` stands for any octets, and `$` at the end for the end of the path.
struct RobotsPattern: Sendable, Equatable {
    private static let asterisk = UInt8(ascii: "*")

    /// The normalized octets and asterisks; with an asterisk at the end unless the end of the path is matched.
    private let octets: [UInt8]
    /// The number of octets, which determines how specific a match is.
    let count: Int

    /// Creates a pattern from the value of a rule.
    init(_ value: some Collection<UInt8>) {
        var value = Array(value)
        let isAnchored = value.last == UInt8(ascii: "$")
        if isAnchored { value.removeLast() }
        let pieces = value.split(separator: Self.asterisk, omittingEmptySubsequences: false)
        let octets = Array(pieces.map { Self.normalized($0) }.joined(separator: [Self.asterisk]))
        count = octets.count + (isAnchored ? 1 : 0)
        self.octets = isAnchored ? octets : octets + [Self.asterisk]
    }

    /// Returns whether the pattern matches a normalized path; `nil` if that takes more steps than `budget`, from which
    /// the steps are subtracted.
    func matches(_ path: [UInt8], budget: inout Int) -> Bool? {
        var next = 0
        var position = 0
        // The last asterisk, and the position after what it stands for.
        var last: (next: Int, position: Int)?
        while true {
            budget -= 1
            guard budget >= 0 else { return nil }
            if next == octets.count {
                if position == path.count { return true }
            } else if octets[next] == Self.asterisk {
                next += 1
                if next == octets.count { return true }
                last = (next, position)
                continue
            } else if position < path.count, octets[next] == path[position] {
                next += 1
                position += 1
                continue
            }
            // The last asterisk stands for one octet more.
            guard let start = last, start.position < path.count else { return false }
            last = (start.next, start.position + 1)
            (next, position) = (start.next, start.position + 1)
        }
    }

    /// Returns the octets in the form in which patterns and paths are compared: percent-encoded if they are not ASCII or
    /// have a meaning in patterns, and decoded if they are unreserved (RFC 9309, section 2.2.2).
    static func normalized(_ octets: some Collection<UInt8>) -> [UInt8] {
        let octets = Array(octets)
        var result: [UInt8] = []
        result.reserveCapacity(octets.count)
        var index = 0
        while index < octets.count {
            let octet = octets[index]
            if octet == UInt8(ascii: "%"), index + 2 < octets.count, let high = octets[index + 1].hexadecimalValue,
                let low = octets[index + 2].hexadecimalValue
            {
                let decoded = high << 4 | low
                if decoded.isUnreserved { result.append(decoded) } else { appendEncoded(decoded, to: &result) }
                index += 3
            } else {
                let isKept = (0x21..<0x7F).contains(octet) && octet != UInt8(ascii: "*") && octet != UInt8(ascii: "$")
                if isKept { result.append(octet) } else { appendEncoded(octet, to: &result) }
                index += 1
            }
        }
        return result
    }

    private static func appendEncoded(_ octet: UInt8, to result: inout [UInt8]) {
        let digits = Array("0123456789ABCDEF".utf8)
        result += [UInt8(ascii: "%"), digits[Int(octet >> 4)], digits[Int(octet & 0xF)]]
    }
}

extension UInt8 {
    /// A Boolean value that indicates whether the octet means the same with and without percent-encoding (RFC 3986,
    /// section 2.3).
    fileprivate var isUnreserved: Bool {
        isRobotsTokenCharacter || self == UInt8(ascii: ".") || self == UInt8(ascii: "~")
    }
}
