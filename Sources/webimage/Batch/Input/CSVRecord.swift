/// The values of a line of CSV (RFC 4180).
enum CSVRecord {
    /// Returns the values of `line`; `nil` if a quotation mark is at a wrong place.
    static func values(of line: [UInt8], separator: UInt8) -> [[UInt8]]? {
        let quote = UInt8(ascii: "\"")
        var values: [[UInt8]] = []
        var index = line.startIndex
        while true {
            var value: [UInt8] = []
            if index < line.endIndex, line[index] == quote {
                index += 1
                while true {
                    guard let end = line[index...].firstIndex(of: quote) else { return nil }
                    value += line[index..<end]
                    index = end + 1
                    guard index < line.endIndex, line[index] == quote else { break }
                    value.append(quote)
                    index += 1
                }
                guard index == line.endIndex || line[index] == separator else { return nil }
            } else {
                let end = line[index...].firstIndex(of: separator) ?? line.endIndex
                value = Array(line[index..<end])
                guard !value.contains(quote) else { return nil }
                index = end
            }
            values.append(value)
            guard index < line.endIndex else { return values }
            index += 1
        }
    }
}
