import AsyncWebImage

/// The division of a list among processes by the hosts of its URLs, so that the limits per host hold for all processes
/// together.
struct HostParts: Sendable, Equatable {
    /// The number of parts.
    let count: Int
    /// The hosts whose lines are dealt out to all parts.
    var spread: Set<String> = []

    /// Returns the number of the part of a line.
    ///
    /// It is the FNV-1a hash of the host, modulo the number of parts. A line without a host, or with a host that is
    /// spread, belongs to a part by its number.
    func part(of entry: ListEntry) -> Int {
        guard entry.problem == nil, let url = entry.url, let host = Self.host(of: url), !spread.contains(host) else {
            return entry.index % count
        }
        return Int(Self.hash(host) % UInt64(count))
    }

    /// Returns the host of a URL in lowercase, in the form that the limits per host use; `nil` if the URL is invalid.
    static func host(of url: String) -> String? { (try? HTTPURL(url))?.host }

    /// Returns the 64-bit FNV-1a hash of the UTF-8 form of `text`.
    static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}
