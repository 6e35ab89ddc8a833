/// HTTP header fields in the order in which they are sent; names can be repeated, and keep their case.
///
/// Fields are not validated, so you can create a malformed head. For example, a folded line is the result of a name
/// that begins with a space, or of a value that contains the end of a line followed by a space.
public struct HeaderFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// A header field.
    public struct Field: Sendable, Hashable {
        /// The name as written; compared ignoring case.
        public var name: String
        /// The value as written.
        public var value: String

        /// Creates the field `name: value`.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The fields in order.
    public var fields: [Field]

    /// Creates fields in the given order.
    public init(_ fields: [Field] = []) {
        self.fields = fields
    }

    /// Creates fields from names and values in the given order; names can be repeated.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0, value: $1) }
    }

    /// The value of the first field with this name, or `nil` if there is none.
    public subscript(name: String) -> String? {
        fields.first { Self.isEqual($0.name, name) }?.value
    }

    /// Returns the values of all fields with this name, in order.
    public func values(named name: String) -> [String] {
        fields.filter { Self.isEqual($0.name, name) }.map(\.value)
    }

    /// Appends a field, even if there is one with this name.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    private static func isEqual(_ left: String, _ right: String) -> Bool {
        left.lowercased() == right.lowercased()
    }
}
