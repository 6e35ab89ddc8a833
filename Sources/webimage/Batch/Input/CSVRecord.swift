/// The values of a record of CSV, as Python and other programs read it: a field that begins with a quotation mark
/// ends at the next one that is not doubled, and any other quotation mark is a character.
enum CSVRecord {
    /// Returns the values of `record`; `nil` if a quoted field does not end.
    static func values(of record: [UInt8], separator: UInt8) -> [[UInt8]]? {
        let quote = UInt8(ascii: "\"")
        var values: [[UInt8]] = []
        var index = record.startIndex
        while true {
            var value: [UInt8] = []
            if index < record.endIndex, record[index] == quote {
                index += 1
                while true {
                    guard let end = record[index...].firstIndex(of: quote) else { return nil }
                    value += record[index..<end]
                    index = end + 1
                    guard index < record.endIndex, record[index] == quote else { break }
                    value.append(quote)
                    index += 1
                }
            }
            // Characters can follow the closing mark.
            let end = record[index...].firstIndex(of: separator) ?? record.endIndex
            value += record[index..<end]
            values.append(value)
            guard end < record.endIndex else { return values }
            index = end + 1
        }
    }
}

/// The position within a record of CSV, byte by byte.
struct CSVPosition {
    private enum Place {
        case fieldStart
        case plain
        case quoted
        /// After a quotation mark within quotes: the end of the field, or the first of two.
        case closing
    }

    private let separator: UInt8
    private var place = Place.fieldStart

    /// Creates the position at the beginning of a record, or of a line within a quoted field.
    init(separator: UInt8, isQuoted: Bool = false) {
        self.separator = separator
        if isQuoted { place = .quoted }
    }

    /// A Boolean value that indicates whether a quoted field has not ended.
    var isQuoted: Bool { place == .quoted }

    /// Returns whether `byte` is the line break that ends the record.
    mutating func endsRecord(with byte: UInt8) -> Bool {
        switch (place, byte) {
        case (.quoted, UInt8(ascii: "\"")): place = .closing
        case (.quoted, _): break
        case (_, UInt8(ascii: "\n")): return true
        case (.fieldStart, UInt8(ascii: "\"")), (.closing, UInt8(ascii: "\"")): place = .quoted
        case (_, separator): place = .fieldStart
        default: place = .plain
        }
        return false
    }
}
