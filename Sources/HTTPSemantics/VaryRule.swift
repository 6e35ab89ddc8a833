package import HTTPTypes

/// The request fields that select the response, according to `Vary` (RFC 9111, section 4.1).
package struct VaryRule: Sendable, Equatable {
    /// The distinct names in lowercase, sorted.
    package let names: [String]
    /// A Boolean value that indicates whether other requests can match the response, which `*` excludes.
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

    /// Returns a text that is equal for requests that the same response can serve.
    ///
    /// Lines with the same name are joined, and whitespace around commas is ignored, because the meaning does not
    /// change.
    package func selection(of fields: HTTPFields) -> String {
        names.map { name in
            let lines = HTTPField.Name(name).map { fields[values: $0] } ?? []
            let parts = lines.flatMap { $0.split(separator: ",") }.map { String($0.trimmed) }
            return "\(name):\(lines.isEmpty ? "-" : parts.joined(separator: ","))\n"
        }.joined()
    }
}
