import Foundation

/// MD5 (RFC 1321) and SHA-256 (FIPS 180-4) of small texts, in hexadecimal.
enum Hash: String, CaseIterable {
    case md5 = "MD5"
    case sha256 = "SHA-256"

    func callAsFunction(_ text: String) -> String {
        let isBig = self == .sha256
        var message = Array(text.utf8)
        let length = UInt64(message.count * 8)
        message.append(0x80)
        while message.count % 64 != 56 { message.append(0) }
        for index in 0..<8 {
            let shift = UInt64(8 * (isBig ? 7 - index : index))
            message.append(UInt8(truncatingIfNeeded: length >> shift))
        }
        var state = isBig ? Self.sha256Start : Self.md5Start
        for start in stride(from: 0, to: message.count, by: 64) {
            let words = (0..<16).map { Self.word(message, at: start + 4 * $0, isBig) }
            let next = isBig ? Self.sha256(state, words) : Self.md5(state, words)
            for index in state.indices { state[index] &+= next[index] }
        }
        return state.map { Self.hexadecimal($0, isBig) }.joined()
    }

    private static func word(_ bytes: [UInt8], at start: Int, _ isBig: Bool) -> UInt32 {
        var word: UInt32 = 0
        for index in 0..<4 { word |= UInt32(bytes[start + index]) << UInt32(8 * (isBig ? 3 - index : index)) }
        return word
    }

    private static func hexadecimal(_ word: UInt32, _ isBig: Bool) -> String {
        let text = String(isBig ? word : word.byteSwapped, radix: 16)
        return String(repeating: "0", count: 8 - text.count) + text
    }

    private static let md5Start: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476]
    /// The floor of 2^32 times the absolute value of the sine of 1 to 64.
    private static let sines = (1...64).map { UInt32(abs(sin(Double($0))) * 4_294_967_296) }
    private static let shifts: [[UInt32]] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]]
    private static let primes = (2..<312).filter { number in !(2..<number).contains { number % $0 == 0 } }
    private static let sha256Start = primes.prefix(8).map { fraction(Double($0).squareRoot()) }
    private static let cubeRoots = primes.prefix(64).map { fraction(cbrt(Double($0))) }

    private static func fraction(_ number: Double) -> UInt32 {
        UInt32((number - number.rounded(.down)) * 4_294_967_296)
    }
    private static func rotated(_ word: UInt32, right: UInt32) -> UInt32 { word >> right | word << (32 - right) }

    private static func md5(_ state: [UInt32], _ words: [UInt32]) -> [UInt32] {
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
            (a, d, c, b) = (d, c, b, b &+ rotated(sum, right: 32 - shifts[step / 16][step % 4]))
        }
        return [a, b, c, d]
    }

    private static func sha256(_ state: [UInt32], _ words: [UInt32]) -> [UInt32] {
        var schedule = words
        for index in 16..<64 {
            let (early, late) = (schedule[index - 15], schedule[index - 2])
            let first: UInt32 = rotated(early, right: 7) ^ rotated(early, right: 18) ^ (early >> 3)
            let second: UInt32 = rotated(late, right: 17) ^ rotated(late, right: 19) ^ (late >> 10)
            schedule.append(schedule[index - 16] &+ first &+ schedule[index - 7] &+ second)
        }
        var next = state
        for step in 0..<64 {
            let (a, e) = (next[0], next[4])
            let first = rotated(e, right: 6) ^ rotated(e, right: 11) ^ rotated(e, right: 25)
            let choice: UInt32 = (e & next[5]) ^ (~e & next[6])
            let sum: UInt32 = next[7] &+ first &+ choice &+ cubeRoots[step] &+ schedule[step]
            let second = rotated(a, right: 2) ^ rotated(a, right: 13) ^ rotated(a, right: 22)
            let majority: UInt32 = (a & next[1]) ^ (a & next[2]) ^ (next[1] & next[2])
            next = [sum &+ second &+ majority, a, next[1], next[2], next[3] &+ sum, e, next[5], next[6]]
        }
        return next
    }
}
