/// An address of this machine in 127.0.0.0/8, which stands for a host of its own.
struct LoopbackAddress: Hashable, Sendable, CustomStringConvertible {
    private static let perBlock = 250

    /// The address in the byte order of this machine.
    let value: UInt32

    /// Creates the address with this number from 0, where 0 is 127.0.0.1.
    init(number: Int) {
        value = 127 << 24 | UInt32(number / Self.perBlock) << 8 | UInt32(number % Self.perBlock + 1)
    }

    var description: String {
        [24, 16, 8, 0].map { "\(value >> $0 & 0xFF)" }.joined(separator: ".")
    }
}
