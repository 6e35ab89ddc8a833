extension DownloadCoordinator {
    /// A snapshot of the coordinator's activity.
    public struct Activity: Sendable, Hashable {
        /// The number of active downloads: those that have a slot, and those that a ``ResponseCache`` answers, which
        /// need no slot.
        public var running: Int
        /// The number of downloads that wait for a slot, or for a lookup in the ``ResponseCache``, by priority.
        ///
        /// Priorities without waiting downloads are omitted.
        public var waitingByPriority: [DownloadPriority: Int]
        /// Of the downloads that wait for a slot, the number that cannot start now because of the rate limit of their
        /// host.
        public var rateLimited: Int
        /// The number of downloads that wait until a failed attempt is retried.
        public var backingOff: Int
        /// The number of callers waiting for a result.
        public var callers: Int
        /// The number of bytes that downloads hold in bodies that are arriving or waiting to be decoded.
        public var bytesInFlight: Int

        /// The number of downloads that wait for a slot, or for a lookup in the ``ResponseCache``.
        public var waiting: Int { waitingByPriority.values.reduce(0, +) }
    }

    /// Adds a listener for the events of all downloads from now on, called on the thread on which an event occurs.
    package nonisolated func addListener(_ listener: @escaping @Sendable (DownloadEvent) -> Void) {
        listeners.add(listener)
    }

    /// The current activity.
    public var activity: Activity {
        current { machine in
            let waiting = DownloadPriority.allCases.map { ($0, machine.waitingCount(of: $0)) }
            return Activity(
                running: machine.runningCount,
                waitingByPriority: Dictionary(uniqueKeysWithValues: waiting.filter { $0.1 > 0 }),
                rateLimited: machine.queue.rateLimitedCount,
                backingOff: machine.backingOffCount,
                callers: machine.callers.count + fileLookups.callerCount,
                bytesInFlight: bytesInFlight.count)
        }
    }
}
