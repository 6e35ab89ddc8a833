/// The kind of an entry: a whole body, or only its beginning (RFC 9111, section 3.3).
package enum EntryKind: Sendable {
    case whole
    case part

    private static let suffix = ".part"

    /// Creates the kind of an entry from its name, 32 digits and 16 more; returns `nil` for other names.
    init?(_ name: String) {
        let isPart = name.hasSuffix(Self.suffix)
        let parts = name.dropLast(isPart ? Self.suffix.count : 0)
            .split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 32, parts[1].utf8.count == 16,
            parts.allSatisfy({ $0.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) } })
        else { return nil }
        self = isPart ? .part : .whole
    }

    /// The first bytes of a file of this kind, which include the version of the format.
    var magic: [UInt8] { Array((self == .whole ? "awicach3" : "awicprt3").utf8) }

    /// Returns the name of an entry of this kind, given that of the whole one.
    func name(_ whole: String) -> String { self == .whole ? whole : whole + Self.suffix }
}
