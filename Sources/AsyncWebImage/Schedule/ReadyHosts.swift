import HeapModule

/// By priority, the hosts whose next download may run, by that download's sequence.
///
/// What is out of date stays until it is popped or there is too much of it: who pops compares it with ``Lane/announced``.
struct ReadyHosts {
    /// A host whose next download of a priority may run; out of date once another is the next.
    struct Announcement: Comparable {
        let sequence: UInt64
        let host: Int

        static func < (left: Self, right: Self) -> Bool { left.sequence < right.sequence }
    }

    private var heaps = [Heap<Announcement>](repeating: Heap(), count: DownloadPriority.allCases.count)

    mutating func insert(_ priority: DownloadPriority, host: Int, sequence: UInt64) {
        heaps[priority.rawValue].insert(Announcement(sequence: sequence, host: host))
    }

    /// Takes the host out whose download is the next, or was.
    mutating func pop(_ priority: DownloadPriority, _ order: ExecutionOrder) -> Announcement? {
        order == .fifo ? heaps[priority.rawValue].popMin() : heaps[priority.rawValue].popMax()
    }

    /// Returns whether most must be out of date, which pile up while nothing is popped.
    func holdsTooMany(_ priority: DownloadPriority, for hostCount: Int) -> Bool {
        let count = heaps[priority.rawValue].count
        return count > 64 && count > 4 * hostCount
    }

    /// Begins anew with what the lanes of `hosts` say.
    mutating func removeOutdated(_ priority: DownloadPriority, of hosts: QueuedHosts) {
        heaps[priority.rawValue] = Heap(
            hosts.indices.compactMap { host in
                hosts[host].lanes[priority.rawValue].announced.map { Announcement(sequence: $0, host: host) }
            })
    }

    mutating func removeAll() {
        for priority in DownloadPriority.descending { heaps[priority.rawValue] = Heap() }
    }
}
