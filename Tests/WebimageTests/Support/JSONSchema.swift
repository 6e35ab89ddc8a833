/// A JSON Schema (2020-12) that describes types, members, and fixed values; other keywords are errors.
struct JSONSchema {
    /// The error when a schema has another keyword, or a value does not satisfy a schema.
    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    private static let allTypes: Set<String> = ["null", "boolean", "integer", "number", "string", "array", "object"]

    private var types = JSONSchema.allTypes
    /// The allowed values; nil for all.
    private var values: [JSONValue]?
    private var required: [String] = []
    private var members: [String: JSONSchema] = [:]
    /// The schema of all other members, if there is one.
    private var others: [JSONSchema] = []
    /// The schema of the elements of an array, if there is one.
    private var elements: [JSONSchema] = []

    init(_ schema: JSONValue) throws {
        guard case .object(let keywords) = schema else { throw Violation(description: "\(schema) is not a schema") }
        for (keyword, value) in keywords {
            switch (keyword, value) {
            case ("$schema", .string), ("title", .string): break
            case ("type", _): types = Set(try Self.texts(value))
            case ("enum", .array(let list)): values = list
            case ("const", _): values = [value]
            case ("required", .array): required = try Self.texts(value)
            case ("properties", .object(let schemas)): members = try schemas.mapValues { try JSONSchema($0) }
            case ("additionalProperties", _): others = [try JSONSchema(value)]
            case ("items", _): elements = [try JSONSchema(value)]
            default: throw Violation(description: "the keyword \(keyword), or its value, is unknown")
            }
        }
        guard types.isSubset(of: Self.allTypes) else { throw Violation(description: "unknown types: \(types)") }
    }

    private static func texts(_ value: JSONValue) throws -> [String] {
        switch value {
        case .string(let text): return [text]
        case .array(let list): return try list.flatMap { try texts($0) }
        default: throw Violation(description: "\(value) is not a name")
        }
    }

    /// The paths of all members whose value need not be `null`, such as `input.first`; `*` is any other name.
    var paths: Set<String> {
        var paths: Set<String> = []
        for (name, schema) in members where schema.types != ["null"] { paths.formUnion(schema.paths(below: name)) }
        for schema in others { paths.formUnion(schema.paths(below: "*")) }
        return paths
    }

    private func paths(below name: String) -> [String] { [name] + paths.map { "\(name).\($0)" } }

    /// Returns the paths of the members of `value` that are not `null`; those of unknown members as well.
    ///
    /// Throws ``Violation`` if `value` does not satisfy the schema.
    @discardableResult
    func validate(_ value: JSONValue) throws -> Set<String> {
        guard !types.isDisjoint(with: value.types), values?.contains(value) ?? true else {
            throw Violation(description: "\(value) is not allowed")
        }
        switch value {
        case .array(let list):
            for element in list { try elements.first?.validate(element) }
            return []
        case .object(let object): return try validate(object)
        default: return []
        }
    }

    private func validate(_ object: [String: JSONValue]) throws -> Set<String> {
        for name in required where object[name] == nil { throw Violation(description: "\(name) is missing") }
        var paths: Set<String> = []
        for (name, value) in object {
            let schema = members[name] ?? others.first
            let label = members[name] == nil && !others.isEmpty ? "*" : name
            do {
                let inner = try schema?.validate(value) ?? []
                if value != .null { paths.formUnion([label] + inner.map { "\(label).\($0)" }) }
            } catch let violation as Violation {
                throw Violation(description: "\(name): \(violation)")
            }
        }
        return paths
    }
}
