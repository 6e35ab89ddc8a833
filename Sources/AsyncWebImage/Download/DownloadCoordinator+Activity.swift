extension DownloadCoordinator {
    /// What is going on, at one moment.
    public struct Activity: Sendable, Hashable {
        /// Downloads that have a slot.
        public var running: Int
        /// Downloads that wait for one, by priority; what nothing waits in is left out.
        public var waitingByPriority: [DownloadPriority: Int]
        /// Callers who wait for an answer.
        public var callers: Int
        /// Bytes of bodies that downloads hold, because they are arriving or wait to be decoded.
        public var bytesInFlight: Int

        /// Downloads that wait for a slot.
        public var waiting: Int { waitingByPriority.values.reduce(0, +) }
    }

    /// What is going on right now.
    public var activity: Activity {
        readInbox()
        let waiting = DownloadPriority.allCases.map { ($0, queue.waitingCounts[$0.rawValue]) }
        return Activity(
            running: queue.runningCount,
            waitingByPriority: Dictionary(uniqueKeysWithValues: waiting.filter { $0.1 > 0 }),
            callers: locations.count,
            bytesInFlight: bytesInFlight.count)
    }
}
