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
    /// Differences without a meaning are removed (section 4.1): lines with the same name are joined, and whitespace
    /// around commas is ignored. In lists of languages, content codings, and character sets, the case and the order are
    /// ignored as well: preferences are expressed by weights (RFC 9110, section 12.5).
    package func selection(of fields: HTTPFields) -> String {
        names.map { name in
            let lines = HTTPField.Name(name).map { fields[values: $0] } ?? []
            var parts = lines.flatMap { $0.split(separator: ",") }.map { String($0.trimmed) }
            if Self.unorderedLists.contains(name) { parts = parts.map(Self.normalized).sorted() }
            return lines.isEmpty ? "\(name)\n" : "\(name):\(parts.joined(separator: ","))\n"
        }.joined()
    }

    private static let unorderedLists: Set<String> = ["accept-charset", "accept-encoding", "accept-language"]

    /// Returns a member of such a list in lowercase, without whitespace.
    private static func normalized(_ member: String) -> String {
        member.lowercased().filter { $0 != " " && $0 != "\t" }
    }
}
