package import HTTPTypes

/// Which fields of a request decide the response, as `Vary` has them (RFC 9111, section 4.1).
package struct VaryRule: Sendable, Equatable {
    /// Names in lower case, sorted; each once.
    package let names: [String]
    /// A Boolean value that indicates whether any request at all can have the same answer: not with `*`.
    package let canMatch: Bool

    package init(_ fields: HTTPFields) {
        var names: Set<String> = []
        for line in fields[values: .vary] {
            for name in line.split(separator: ",") { names.insert(name.trimmed.lowercased()) }
        }
        names.remove("")
        canMatch = !names.contains("*")
        self.names = names.sorted()
    }

    /// What the fields of a request are compared by: equal if the same response serves both.
    ///
    /// Lines of one name are joined, and blanks around commas count for nothing, as their meaning does not change.
    package func selection(of fields: HTTPFields) -> String {
        names.map { name in
            let lines = HTTPField.Name(name).map { fields[values: $0] } ?? []
            let parts = lines.flatMap { $0.split(separator: ",") }.map { String($0.trimmed) }
            return "\(name):\(lines.isEmpty ? "-" : parts.joined(separator: ","))\n"
        }.joined()
    }
}
