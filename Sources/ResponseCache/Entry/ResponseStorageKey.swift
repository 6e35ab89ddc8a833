/// The key of an entry of a ``ResponseStorage``.
///
/// One resource can have several entries: responses that differ by `Vary`, beginnings of their bodies, and results
/// computed from them.
public struct ResponseStorageKey: Sendable, Hashable {
    /// A hash of the URL and the credentials of the request, in 32 hexadecimal digits.
    public let resource: String
    /// A hash of the request's fields named by `Vary`, or of what a result is, in 16 hexadecimal digits; empty for a
    /// response without `Vary`.
    let selection: String
    let kind: EntryKind

    /// Creates the key of a response; by default, of one without `Vary`.
    init(resource: String, selection: String = "", _ kind: EntryKind = .whole) {
        (self.resource, self.selection, self.kind) = (resource, selection, kind)
    }

    /// Returns the key of the entry of the same response that has another kind.
    func with(_ kind: EntryKind) -> ResponseStorageKey {
        ResponseStorageKey(resource: resource, selection: selection, kind)
    }

    /// A Boolean value that indicates whether it is the key of a response with `Vary`.
    var isVariant: Bool { !selection.isEmpty && kind != .result }

    /// A Boolean value that indicates whether the key must be listed to be found: there can be several of its resource.
    var isListed: Bool { !selection.isEmpty }
}

/// The kind of an entry: a whole body, only its beginning, or a result computed from it, such as a smaller image.
package enum EntryKind: Sendable, CaseIterable {
    case whole
    case part
    case result

    /// The end of the names of such entries.
    fileprivate var suffix: String {
        switch self {
        case .whole: ""
        case .part: ".part"
        case .result: ".res"
        }
    }
}

// MARK: - As text

extension ResponseStorageKey {
    /// The text of the key: up to 54 lowercase letters, digits, hyphens, and periods, beginning with the ``resource``.
    public var name: String {
        let whole = selection.isEmpty ? resource : "\(resource)-\(selection)"
        return whole + kind.suffix
    }

    /// Creates a key from its name; returns `nil` if the text is not the name of a key.
    public init?(_ name: String) {
        // By bytes: the names of thousands of files are read at once.
        let kind: EntryKind =
            name.hasSuffix(EntryKind.part.suffix)
            ? .part : name.hasSuffix(EntryKind.result.suffix) ? .result : .whole
        let whole = name.utf8.dropLast(kind.suffix.utf8.count)
        let (resource, rest) = (whole.prefix(32), whole.dropFirst(32))
        guard resource.isHexadecimal(32), rest.isEmpty || rest.first == 0x2D && rest.dropFirst().isHexadecimal(16)
        else {
            return nil
        }
        self.init(
            resource: String(Substring(resource)), selection: String(Substring(rest.dropFirst())),
            kind)
    }
}

extension Substring.UTF8View {
    /// Returns whether the text has `count` characters, all of them lowercase hexadecimal digits.
    fileprivate func isHexadecimal(_ count: Int) -> Bool {
        self.count == count && allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
