extension DownloadCoordinator {
    /// What is going on, at one moment.
    public struct Activity: Sendable, Hashable {
        /// Downloads that have a slot, and those that a ``ResponseCache`` answers, which need none.
        public var running: Int
        /// Downloads that wait for one, by priority; what nothing waits in is left out.
        public var waitingByPriority: [DownloadPriority: Int]
        /// Callers who wait for an answer.
        public var callers: Int
        /// Bytes of bodies that downloads hold, because they are arriving or wait to be decoded.
        public var bytesInFlight: Int

        /// Downloads that wait for a slot, or to be looked for in the ``ResponseCache``.
        public var waiting: Int { waitingByPriority.values.reduce(0, +) }
    }

    /// What is going on right now.
    public var activity: Activity {
        current { machine in
            let waiting = DownloadPriority.allCases.map { ($0, machine.waitingCount(of: $0)) }
            return Activity(
                running: machine.runningCount,
                waitingByPriority: Dictionary(uniqueKeysWithValues: waiting.filter { $0.1 > 0 }),
                callers: machine.callers.count,
                bytesInFlight: bytesInFlight.count)
        }
    }
}
