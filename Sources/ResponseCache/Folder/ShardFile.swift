/// A file of a shard: an entry, or the list of the entries of a resource that differ by `Vary`.
///
/// Files with other names belong to somebody else.
enum ShardFile: Sendable, Hashable {
    case entry(ResponseStorageKey)
    case list(resource: String)

    private static let listSuffix = ".vary"

    /// Creates the file with a name; returns `nil` for other names.
    init?(name: String) {
        if let key = ResponseStorageKey(name) {
            self = .entry(key)
            return
        }
        // The name of a list begins with that of an entry without `Vary`.
        guard name.hasSuffix(Self.listSuffix),
            let plain = ResponseStorageKey(String(name.dropLast(Self.listSuffix.count))),
            plain == ResponseStorageKey(resource: plain.resource)
        else { return nil }
        self = .list(resource: plain.resource)
    }

    private var resource: String {
        switch self {
        case .entry(let key): key.resource
        case .list(let resource): resource
        }
    }

    /// The name of the folder of its shard.
    var folder: String { String(resource.prefix(2)) }

    /// The path in the folder of the shards.
    var path: String {
        switch self {
        case .entry(let key): "\(folder)/\(key.name)"
        case .list(let resource): "\(folder)/\(resource)\(Self.listSuffix)"
        }
    }

    /// The number of its shard.
    var shard: Int { Self.shard(of: resource) }

    /// Returns the number of the shard of a resource.
    static func shard(of resource: String) -> Int { Int(resource.prefix(2), radix: 16) ?? 0 }
}
