import Foundation

/// MD5 (RFC 1321), which Digest (RFC 7616) still may use.
package enum MD5 {
    /// The digest of `bytes` in lower-case hexadecimal.
    package static func hexadecimal(_ bytes: [UInt8]) -> String {
        var message = bytes + [0x80]
        while message.count % 64 != 56 { message.append(0) }
        for shift in stride(from: 0, to: 64, by: 8) {
            message.append(UInt8(truncatingIfNeeded: (bytes.count * 8) >> shift))
        }
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476]
        for block in stride(from: 0, to: message.count, by: 64) {
            let next = compress(state, (0..<16).map { word(message, at: block + 4 * $0) })
            for index in state.indices { state[index] &+= next[index] }
        }
        return state.map { word in
            let digits = String(word.byteSwapped, radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }

    private static func word(_ bytes: [UInt8], at start: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[start + $1]) << UInt32(8 * $1) }
    }

    private static func compress(_ state: [UInt32], _ words: [UInt32]) -> [UInt32] {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        for step in 0..<64 {
            let (mix, index): (UInt32, Int) =
                switch step / 16 {
                case 0: ((b & c) | (~b & d), step)
                case 1: ((d & b) | (~d & c), (5 * step + 1) % 16)
                case 2: (b ^ c ^ d, (3 * step + 5) % 16)
                default: (c ^ (b | ~d), 7 * step % 16)
                }
            let sum: UInt32 = a &+ mix &+ sines[step] &+ words[index]
            let shift = shifts[step / 16][step % 4]
            (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
        }
        return [a, b, c, d]
    }

    /// The floor of 2^32 times the absolute value of the sine of 1 to 64.
    private static let sines = (1...64).map { UInt32(abs(sin(Double($0))) * 4_294_967_296) }
    private static let shifts: [[UInt32]] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]]
}
