import ArgumentParser

/// A number of bytes as an argument, such as `64M`.
struct ByteAmount: ExpressibleByArgument, Sendable, Equatable {
    let bytes: Int

    init(_ bytes: Int) {
        self.bytes = bytes
    }

    init?(argument: String) {
        let units: [Character: Int] = ["K": 10, "M": 20, "G": 30]
        let shift = argument.last.flatMap { units[Character($0.uppercased())] }
        let digits = shift == nil ? argument[...] : argument.dropLast()
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int(digits), number > 0, number <= Int.max >> (shift ?? 0)
        else { return nil }
        bytes = number << (shift ?? 0)
    }

    var defaultValueDescription: String {
        bytes % (1 << 20) == 0 ? "\(bytes >> 20)M" : "\(bytes)"
    }
}
