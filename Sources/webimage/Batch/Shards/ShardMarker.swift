/// The file that says that a shard is complete, and of which lines it was made.
struct ShardMarker: Sendable, Equatable {
    /// The lines of a shard.
    struct Input: Sendable, Equatable {
        let first: Int
        let count: Int
        /// The SHA-256 of the lines, each followed by a line feed; a line that does not follow the previous one in
        /// the list is preceded by its index and a line feed.
        let sha256: String
    }

    let input: Input
    let optionsDigest: String

    init(input: Input, optionsDigest: String) {
        self.input = input
        self.optionsDigest = optionsDigest
    }

    /// Reads a marker; returns `nil` if `bytes` is not a marker.
    init?(_ bytes: [UInt8]) {
        guard let members = JSONScanner.members(of: bytes),
            let input = members.first(where: { $0.name == "input" }),
            let options = members.first(where: { $0.name == "options_sha256" }),
            let optionsDigest = JSONScanner.text(of: options.value),
            let parts = JSONScanner.members(of: Array(input.value))
        else { return nil }
        func number(_ name: String) -> Int? {
            parts.first { $0.name == name }.flatMap { Int(String(decoding: $0.value, as: UTF8.self)) }
        }
        guard let first = number("first"), let count = number("count"),
            let sum = parts.first(where: { $0.name == "sha256" }).flatMap({ JSONScanner.text(of: $0.value) })
        else { return nil }
        self.init(input: Input(first: first, count: count, sha256: sum), optionsDigest: optionsDigest)
    }

    /// Adds the marker's members to `object`, which contains the counts of the shard.
    func add(to object: inout JSONObject) {
        var lines = JSONObject()
        lines.add("first", input.first)
        lines.add("count", input.count)
        lines.add("sha256", input.sha256)
        object.add("input", raw: lines.bytes)
        object.add("options_sha256", optionsDigest)
    }
}
