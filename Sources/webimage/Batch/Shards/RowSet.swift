/// A set of rows of a shard; it takes a bit for each row up to the highest.
struct RowSet: Sendable {
    private static let bitsPerWord = 64

    private var words: [UInt64] = []
    /// The number of rows in the set.
    private(set) var count = 0

    init(_ rows: [Int] = []) {
        for row in rows { insert(row) }
    }

    var isEmpty: Bool { count == 0 }

    func contains(_ row: Int) -> Bool {
        let word = row / Self.bitsPerWord
        return word < words.count && words[word] & Self.bit(of: row) != 0
    }

    /// Adds a row, a number from 0.
    mutating func insert(_ row: Int) {
        guard !contains(row) else { return }
        let word = row / Self.bitsPerWord
        if word >= words.count { words += repeatElement(0, count: word + 1 - words.count) }
        words[word] |= Self.bit(of: row)
        count += 1
    }

    private static func bit(of row: Int) -> UInt64 { 1 << UInt64(row % bitsPerWord) }
}
