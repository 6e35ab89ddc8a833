/// The kind of an entry: a whole body, only its beginning, or a part that was requested (RFC 9111, section 3.3).
package enum EntryKind: Sendable, CaseIterable {
    case whole
    case part
    case range

    private var suffix: String {
        switch self {
        case .whole: ""
        case .part: ".part"
        case .range: ".range"
        }
    }

    /// Creates the kind of an entry from its name, 32 digits and 16 more; returns `nil` for other names.
    init?(_ name: String) {
        let kind = [EntryKind.part, .range].first { name.hasSuffix($0.suffix) } ?? .whole
        let parts = name.dropLast(kind.suffix.count)
            .split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 32, parts[1].utf8.count == 16,
            parts.allSatisfy({ $0.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) } })
        else { return nil }
        self = kind
    }

    /// The first bytes of a file of this kind, which include the version of the format.
    var magic: [UInt8] {
        switch self {
        case .whole: Array("awicach3".utf8)
        case .part: Array("awicprt3".utf8)
        case .range: Array("awicrng3".utf8)
        }
    }

    /// Returns the name of an entry of this kind, given that of the whole one.
    func name(_ whole: String) -> String { whole + suffix }
}
