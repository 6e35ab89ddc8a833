// The members of the system's socket types belong to whichever module the compiler loads first, this or Glibc.
import CCurl

import Glibc

/// An IPv4 or IPv6 address.
///
/// `::ffff:a.b.c.d` is the IPv4 address `a.b.c.d`, because the system connects to it over IPv4.
public struct IPAddress: Sendable, Hashable {
    /// A Boolean value that indicates whether this is an IPv4 address.
    public let isIPv4: Bool
    /// The address as a number.
    let bits: UInt128

    /// Creates an IPv4 address from its 32 bits.
    init(v4 bits: UInt32) {
        isIPv4 = true
        self.bits = UInt128(bits)
    }

    /// Creates an IPv6 address from its 128 bits.
    init(v6 bits: UInt128) {
        isIPv4 = bits >> 32 == 0xFFFF
        self.bits = isIPv4 ? bits & 0xFFFF_FFFF : bits
    }

    /// Parses an IPv4 address in the form `a.b.c.d`, or an IPv6 address without brackets or a zone; returns `nil` for
    /// other text.
    public init?(_ text: String) {
        // A C string would end there.
        guard !text.utf8.contains(0) else { return nil }
        var short = in_addr()
        if unsafe inet_pton(AF_INET, text, &short) == 1 {
            self.init(v4: UInt32(bigEndian: short.s_addr))
            return
        }
        var long: UInt128 = 0
        guard unsafe inet_pton(AF_INET6, text, &long) == 1 else { return nil }
        self.init(v6: UInt128(bigEndian: long))
    }

    /// Creates the address that is the host of a URL; returns `nil` if the host is a name.
    init?(urlHost host: String) {
        guard host.hasPrefix("[") else {
            self.init(host)
            return
        }
        self.init(String(host.dropFirst().prefix { $0 != "]" && $0 != "%" }))
    }

    /// Creates the address of a socket; returns `nil` unless it is an IPv4 or IPv6 address.
    init?(_ address: UnsafePointer<sockaddr>) {
        let bytes = unsafe UnsafeRawPointer(address)
        switch Int32(unsafe address.pointee.sa_family) {
        case AF_INET:
            let socket = unsafe bytes.loadUnaligned(as: sockaddr_in.self)
            self.init(v4: UInt32(bigEndian: socket.sin_addr.s_addr))
        case AF_INET6:
            let offset = MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr) ?? 8
            self.init(v6: UInt128(bigEndian: unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt128.self)))
        default:
            return nil
        }
    }

    /// The IPv4 addresses embedded in an IPv6 address, to which a gateway can forward the connection.
    ///
    /// Covers IPv4-compatible and IPv4-translated addresses, 6to4, NAT64, Teredo (server and client), and ISATAP.
    var embedded: [IPAddress] {
        guard !isIPv4 else { return [] }
        func v4(_ bits: UInt128) -> IPAddress { IPAddress(v4: UInt32(truncatingIfNeeded: bits)) }
        var found: [IPAddress] = []
        // ::a.b.c.d, except :: and ::1, and ::ffff:0:a.b.c.d
        if bits >> 32 == 0, bits > 1 { found.append(v4(bits)) }
        if bits >> 32 == 0xFFFF_0000 { found.append(v4(bits)) }
        if bits >> 112 == 0x2002 { found.append(v4(bits >> 80)) }
        if bits >> 32 == 0x64_FF9B << 64 { found.append(v4(bits)) }
        if bits >> 80 == 0x64_FF9B_0001 {
            // RFC 6052: with a prefix of 48 bits, bits 64 to 71 are not part of the address; or the prefix has 96
            // bits.
            found += [v4(bits >> 48 & 0xFFFF_0000 | bits >> 40 & 0xFFFF), v4(bits)]
        }
        if bits >> 96 == 0x2001_0000 { found += [v4(bits >> 64), v4(~bits)] }
        if bits >> 32 & 0xFDFF_FFFF == 0x5EFE { found.append(v4(bits)) }
        return found
    }
}

extension IPAddress: CustomStringConvertible {
    /// The address in standard notation: `192.0.2.1`, `2001:db8::1`.
    public var description: String {
        if isIPv4 { return [24, 16, 8, 0].map { "\(bits >> $0 & 0xFF)" }.joined(separator: ".") }
        var ordered = bits.bigEndian
        var text = [UInt8](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let count = text.count
        unsafe text.withUnsafeMutableBytes { buffer in
            _ = unsafe inet_ntop(AF_INET6, &ordered, buffer.baseAddress, socklen_t(count))
        }
        return String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
    }
}

extension IPAddress: ExpressibleByStringLiteral {
    /// Creates an address from a literal; traps if the text is not an address.
    public init(stringLiteral text: String) {
        guard let address = IPAddress(text) else { preconditionFailure("\(text) is not an IP address") }
        self = address
    }
}
