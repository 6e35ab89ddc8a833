/// The key of an entry of a ``ResponseStorage``.
///
/// One resource can have several entries: responses that differ by `Vary`, and parts of them.
public struct ResponseStorageKey: Sendable, Hashable {
    /// The text of the key: up to 55 lowercase letters, digits, hyphens, and periods, beginning with the
    /// ``resource``.
    public let name: String

    /// A hash of the URL and the credentials of the request, in 32 hexadecimal digits.
    public var resource: String { String(name.prefix(32)) }

    /// Creates a key from its name; returns `nil` if the text is not the name of a key.
    public init?(_ name: String) {
        guard EntryKind(name) != nil else { return nil }
        self.name = name
    }

    /// Creates a key from the name of an entry.
    init(name: String) { self.name = name }
}
