/// HTTP header fields in the order in which they go over the wire, names as written, repetitions kept.
///
/// Nothing is checked when they are sent, so that a head may have what it must not: a name that begins with a space folds
/// its line into the one before it, as a line end and a space in a value do.
public struct HeaderFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// One line of a head.
    public struct Field: Sendable, Hashable {
        /// The name as written; compared without regard to case.
        public var name: String
        /// The value as written.
        public var value: String

        /// The field `name: value`.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The fields in order.
    public var fields: [Field]

    /// The given fields in order.
    public init(_ fields: [Field] = []) {
        self.fields = fields
    }

    /// The given names and values in order; a name may come twice.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0, value: $1) }
    }

    /// The value of the first field of that name, or nil.
    public subscript(name: String) -> String? {
        fields.first { Self.isEqual($0.name, name) }?.value
    }

    /// The values of all fields of that name, in order.
    public func values(named name: String) -> [String] {
        fields.filter { Self.isEqual($0.name, name) }.map(\.value)
    }

    /// Adds a field after the others, even if there is one of that name.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    private static func isEqual(_ left: String, _ right: String) -> Bool {
        left.lowercased() == right.lowercased()
    }
}
