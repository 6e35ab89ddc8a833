/// The rules of the origins that were asked last.
///
/// A pure value. It holds two generations, each limited in number and bytes: when the newer one is full, the older one
/// is discarded.
struct RobotsCache: Sendable {
    /// The result of reading a robots.txt.
    enum Outcome: Sendable, Equatable {
        case rules(RobotsRules)
        /// The file cannot be read, which disallows everything.
        case unreachable(ImageRefusal)
    }

    private struct Entry {
        let outcome: Outcome
        let end: Duration
    }

    /// The maximum time for which rules apply.
    static let lifetime = Duration.seconds(24 * 3_600)
    /// The time after which a file that could not be read is requested again.
    static let failureLifetime = Duration.seconds(600)
    /// The maximum number of origins.
    static let maximumCount = 20_000
    /// The maximum size of all rules in memory.
    static let maximumBytes = 16 << 20

    private var newer: [String: Entry] = [:]
    private var older: [String: Entry] = [:]
    private var newerBytes = 0

    /// The number of origins.
    var count: Int { newer.count + older.count }

    /// Returns what is known about an origin at `time`; `nil` if nothing is.
    mutating func outcome(of origin: String, at time: Duration) -> Outcome? {
        if let entry = newer[origin] { return entry.end > time ? entry.outcome : nil }
        guard let entry = older[origin], entry.end > time else { return nil }
        insert(entry, origin)
        return entry.outcome
    }

    /// Adds what has become known about an origin at `time`.
    mutating func add(_ outcome: Outcome, of origin: String, at time: Duration) {
        let lifetime =
            switch outcome {
            case .rules: Self.lifetime
            case .unreachable: Self.failureLifetime
            }
        insert(Entry(outcome: outcome, end: time + lifetime), origin)
    }

    private mutating func insert(_ entry: Entry, _ origin: String) {
        let bytes = origin.utf8.count + entry.outcome.byteCount
        if newer.count >= Self.maximumCount / 2 || newerBytes + bytes > Self.maximumBytes / 2, !newer.isEmpty {
            older = newer
            newer = [:]
            newerBytes = 0
        }
        older[origin] = nil
        if let earlier = newer.updateValue(entry, forKey: origin) {
            newerBytes -= origin.utf8.count + earlier.outcome.byteCount
        }
        newerBytes += bytes
    }
}

extension RobotsCache.Outcome {
    /// The approximate number of bytes in memory.
    fileprivate var byteCount: Int {
        switch self {
        case .rules(let rules): rules.byteCount
        case .unreachable(let refusal): 256 + refusal.description.utf8.count
        }
    }
}
