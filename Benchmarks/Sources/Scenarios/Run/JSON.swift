import FoundationEssentials

/// Values as one line of JSON, keys in alphabetical order.
enum JSON {
    /// Between the driver and its children: keys as they are in Swift.
    static func text(of value: some Encodable) throws -> String {
        try text(of: value, keys: .useDefaultKeys)
    }

    /// For others: keys in snake case.
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
