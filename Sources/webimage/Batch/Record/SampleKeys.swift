/// The numbers of samples in shards, and their names, which are those of img2dataset.
struct SampleKeys: Sendable, Equatable {
    let samplesPerShard: Int

    /// Returns the name of the sample at `row` of a shard: the number of the shard with 5 digits or more, followed by
    /// that of the row.
    func key(shard: Int, row: Int) -> String {
        name(ofShard: shard) + (rowDigits > 0 ? Self.padded(row, rowDigits) : "")
    }

    /// Returns the name of a shard.
    func name(ofShard shard: Int) -> String { Self.padded(shard, 5) }

    /// Returns the row of the sample with this name in a shard; `nil` if it is none of the shard.
    func row(of key: String, shard: Int) -> Int? {
        let name = name(ofShard: shard)
        guard key.hasPrefix(name) else { return nil }
        let digits = key.dropFirst(name.count)
        guard digits.utf8.count == rowDigits, digits.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
        else { return nil }
        return digits.isEmpty ? 0 : Int(digits)
    }

    /// The number of digits of a row: ⌈log10(samples per shard)⌉.
    private var rowDigits: Int {
        var digits = 0
        var limit = 1
        while limit < samplesPerShard {
            limit *= 10
            digits += 1
        }
        return digits
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
