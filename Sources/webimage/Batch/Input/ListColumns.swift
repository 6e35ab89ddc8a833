/// The names of the columns, or members, that have a meaning in a list; all others are passed on.
struct ListColumns: Sendable, Equatable {
    var url = defaultURL
    var id = defaultID
    var caption: String?
    /// The expected digest of the body, in hexadecimal digits.
    var digest: String?
    /// The options of the line.
    var options: String?

    static let defaultURL = "url"
    static let defaultID = "id"

    /// The columns of the output, which a list may not have as additional columns.
    var reserved: Set<String> = []

    /// The columns that a header must name, and the options that select them.
    ///
    /// The columns of the identifiers and of the options can be absent if they have their default names.
    var required: [(name: String, option: String)] {
        url == Self.defaultURL ? [(name: url, option: "--url-col")] + selected : selected
    }

    /// The columns that options select, and these options; a list without columns cannot have them.
    var selected: [(name: String, option: String)] {
        var columns: [(name: String, option: String)] = []
        if url != Self.defaultURL { columns.append((name: url, option: "--url-col")) }
        if id != Self.defaultID { columns.append((name: id, option: "--id-col")) }
        if let caption { columns.append((name: caption, option: "--caption-col")) }
        if let digest { columns.append((name: digest, option: "--verify-hash")) }
        return columns
    }

    /// Returns whether a column of the list is passed on.
    func passOn(_ name: String) -> Bool { ![url, id, caption, digest, options].contains(name) }

    /// Returns the first of the names to pass on that is reserved for the output, or `nil`.
    func conflict(among names: [String]) -> String? {
        names.first { passOn($0) && reserved.contains($0) }
    }
}
