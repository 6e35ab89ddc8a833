/// Which credentials are known for which origins, and which transfers wait for one.
///
/// A value: who asks the provider, and when, is the transport's business.
struct CredentialDesk {
    /// Whose credential it is.
    struct Key: Hashable {
        let origin: String
        let realm: String?
    }

    private struct Asking {
        let id: Int
        var waiting: Set<UInt64>
        var task: Task<Void, Never>?
    }

    private static let limit = 1_000

    private var known: [Key: Credential] = [:]
    /// The key of each origin that was accepted or asked for last.
    private(set) var latest: [String: Key] = [:]
    private var asking: [Key: Asking] = [:]
    private var lastID = 0

    /// What to send to an origin without being asked.
    func credential(for url: HTTPURL) -> Credential? {
        guard !latest.isEmpty else { return nil }
        return latest[Self.origin(of: url)].flatMap { known[$0] }
    }

    /// What is known for `key`.
    func credential(for key: Key) -> Credential? { known[key] }

    /// Keeps what is to be sent to `key` from now on.
    mutating func remember(_ credential: Credential, for key: Key) {
        if known.count >= Self.limit {
            known.removeAll()
            latest.removeAll()
        }
        known[key] = credential
        latest[key.origin] = key
    }

    /// Forgets what `key` has refused, unless there is something newer.
    mutating func forget(_ credential: Credential, for key: Key) {
        guard known[key] == credential else { return }
        known[key] = nil
        if latest[key.origin] == key { latest[key.origin] = nil }
    }

    /// Has `transfer` wait for the answer for `key`; returns the number of the question if it has to be asked.
    mutating func wait(_ transfer: UInt64, for key: Key) -> Int? {
        asking[key]?.waiting.insert(transfer)
        guard asking[key] == nil else { return nil }
        lastID += 1
        asking[key] = Asking(id: lastID, waiting: [transfer])
        return lastID
    }

    /// The question that was begun is answered by `task`.
    mutating func attach(_ task: Task<Void, Never>, to key: Key) {
        asking[key]?.task = task
    }

    /// Question `id` is answered; returns who waits for it.
    mutating func answered(_ key: Key, _ id: Int) -> Set<UInt64> {
        guard asking[key]?.id == id else { return [] }
        return asking.removeValue(forKey: key)?.waiting ?? []
    }

    /// `transfer` waits no longer; a question that nobody waits for is given up.
    mutating func leave(_ transfer: UInt64, _ key: Key) {
        asking[key]?.waiting.remove(transfer)
        guard asking[key]?.waiting.isEmpty == true else { return }
        asking.removeValue(forKey: key)?.task?.cancel()
    }

    static func origin(of url: HTTPURL) -> String { "\(url.scheme)://\(url.host):\(url.port)" }
}
