/// The hosts whose latest response shared its connection with others, as in HTTP/2.
struct MultiplexedHosts {
    /// The maximum number of hosts that are remembered; before another one is added, all are forgotten.
    static let maximumCount = 4_096

    private var names: Set<String> = []

    func contains(_ name: String) -> Bool { names.contains(name) }

    /// Records the kind of the latest response of a host; returns whether it differs from what was known.
    mutating func learn(_ name: String, isMultiplexed: Bool) -> Bool {
        guard contains(name) != isMultiplexed else { return false }
        guard isMultiplexed else { return names.remove(name) != nil }
        // A forgotten host is learned again with its next response.
        if names.count >= Self.maximumCount { names.removeAll(keepingCapacity: true) }
        return names.insert(name).inserted
    }
}
