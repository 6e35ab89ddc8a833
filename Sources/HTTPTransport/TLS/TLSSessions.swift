/// The newest TLS session of each server, with which the next connection needs no certificates.
///
/// A session belongs to the settings that it was made with.
struct TLSSessions {
    static let defaultLimit = 4_096

    private struct Entry {
        let bytes: [UInt8]
        let settings: UInt64
        let end: MonotonicInstant
        var lastUse: UInt64
    }

    private let limit: Int
    private var entries: [TLSPeer: Entry] = [:]
    private var useCount: UInt64 = 0

    /// Creates a store for the sessions of at most `limit` servers.
    init(limit: Int = defaultLimit) {
        self.limit = limit
    }

    var count: Int { entries.count }
    /// The number of bytes of all sessions.
    var byteCount: Int { entries.values.reduce(0) { $0 + $1.bytes.count } }

    /// Returns the session for another connection to `peer` with the same settings; `nil` if there is none that is
    /// valid at `now`.
    mutating func session(for peer: TLSPeer, settings: UInt64, now: MonotonicInstant) -> [UInt8]? {
        guard let entry = entries[peer] else { return nil }
        guard entry.settings == settings, now < entry.end else {
            entries[peer] = nil
            return nil
        }
        useCount += 1
        entries[peer]?.lastUse = useCount
        return entry.bytes
    }

    /// Stores a session in place of the one before.
    mutating func insert(_ bytes: [UInt8], for peer: TLSPeer, settings: UInt64, until end: MonotonicInstant) {
        if entries.count >= limit, entries[peer] == nil { removeLeastRecentlyUsed() }
        useCount += 1
        entries[peer] = Entry(bytes: bytes, settings: settings, end: end, lastUse: useCount)
    }

    /// Removes the session of `peer`.
    mutating func remove(_ peer: TLSPeer) { entries[peer] = nil }

    /// Removes several at once, because finding them takes time in proportion to the number of all.
    private mutating func removeLeastRecentlyUsed() {
        let uses = entries.map { (peer: $0.key, lastUse: $0.value.lastUse) }.sorted { $0.lastUse < $1.lastUse }
        for use in uses.prefix(max(1, limit / 16)) { entries[use.peer] = nil }
    }
}
