import FoundationEssentials

/// Values as one line of JSON with keys in alphabetical order.
enum JSON {
    /// Returns the JSON of a value that the driver and its children exchange, with keys as in Swift.
    static func text(of value: some Encodable) throws -> String {
        try text(of: value, keys: .useDefaultKeys)
    }

    /// Returns the JSON of a row for other programs, with keys in snake case.
    static func line(of row: Row) throws -> String {
        try text(of: row, keys: .convertToSnakeCase)
    }

    static func value<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    private static func text(of value: some Encodable, keys: JSONEncoder.KeyEncodingStrategy) throws -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = keys
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
