/// The known credentials for origins, and the transfers that wait for one.
///
/// A value: the transport decides when to ask the provider.
struct CredentialStore {
    /// The origin and realm of a credential.
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
    /// The key most recently accepted or requested for each origin.
    private(set) var latest: [String: Key] = [:]
    private var asking: [Key: Asking] = [:]
    private var lastID = 0

    /// Returns the credential to send to an origin without a challenge.
    func credential(for url: HTTPURL) -> Credential? {
        guard !latest.isEmpty else { return nil }
        return latest[url.origin].flatMap { known[$0] }
    }

    /// Returns the known credential for `key`.
    func credential(for key: Key) -> Credential? { known[key] }

    /// Stores the credential to send for `key` from now on.
    mutating func remember(_ credential: Credential, for key: Key) {
        if known.count >= Self.limit {
            known.removeAll()
            latest.removeAll()
        }
        known[key] = credential
        latest[key.origin] = key
    }

    /// Removes a credential that was refused for `key`, unless a newer one is stored.
    mutating func forget(_ credential: Credential, for key: Key) {
        guard known[key] == credential else { return }
        known[key] = nil
        if latest[key.origin] == key { latest[key.origin] = nil }
    }

    /// Adds `transfer` to those that wait for `key`; returns the number of the query if the provider must be asked.
    mutating func wait(_ transfer: UInt64, for key: Key) -> Int? {
        asking[key]?.waiting.insert(transfer)
        guard asking[key] == nil else { return nil }
        lastID += 1
        asking[key] = Asking(id: lastID, waiting: [transfer])
        return lastID
    }

    /// Stores the task that performs the query.
    mutating func attach(_ task: Task<Void, Never>, to key: Key) {
        asking[key]?.task = task
    }

    /// Ends query `id` and returns the transfers that wait for it.
    mutating func finishQuery(_ key: Key, _ id: Int) -> Set<UInt64> {
        guard asking[key]?.id == id else { return [] }
        return asking.removeValue(forKey: key)?.waiting ?? []
    }

    /// Removes a waiting transfer; returns the task of the query, to be canceled, if no transfer waits for it anymore.
    mutating func leave(_ transfer: UInt64, _ key: Key) -> Task<Void, Never>? {
        asking[key]?.waiting.remove(transfer)
        guard asking[key]?.waiting.isEmpty == true else { return nil }
        return asking.removeValue(forKey: key)?.task
    }
}
