import HeapModule

/// The hosts whose next download may run, by priority and by that download's sequence.
///
/// Outdated announcements remain until they are popped or too numerous: callers compare them with ``Lane/announced``.
struct ReadyHosts {
    /// A host whose next download of a priority may run; outdated once another download is the next.
    struct Announcement: Comparable {
        let sequence: UInt64
        let host: Int

        static func < (left: Self, right: Self) -> Bool { left.sequence < right.sequence }
    }

    private var heaps = [Heap<Announcement>](repeating: Heap(), count: DownloadPriority.allCases.count)

    mutating func insert(_ priority: DownloadPriority, host: Int, sequence: UInt64) {
        heaps[priority.rawValue].insert(Announcement(sequence: sequence, host: host))
    }

    /// Removes and returns the host whose download is, or was, the next one.
    mutating func pop(_ priority: DownloadPriority, _ order: DownloadConfiguration.ExecutionOrder) -> Announcement? {
        order == .fifo ? heaps[priority.rawValue].popMin() : heaps[priority.rawValue].popMax()
    }

    /// Returns whether most announcements must be outdated, because they accumulate while none is popped.
    func holdsTooMany(_ priority: DownloadPriority, for hostCount: Int) -> Bool {
        let count = heaps[priority.rawValue].count
        return count > 64 && count > 4 * hostCount
    }

    /// Removes outdated announcements of a priority, by rebuilding all of them from the lanes of `hosts`.
    mutating func removeOutdated(_ priority: DownloadPriority, of hosts: QueuedHosts) {
        heaps[priority.rawValue] = Heap(
            hosts.indices.compactMap { host in
                hosts.states[host].lanes[priority.rawValue].announced.map { Announcement(sequence: $0, host: host) }
            })
    }

    mutating func removeAll() {
        for priority in DownloadPriority.descending { heaps[priority.rawValue] = Heap() }
    }
}
