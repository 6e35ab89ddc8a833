extension LoopbackOrigin {
    /// What an origin has seen and done up to a moment.
    public struct Counts: Sendable, Hashable {
        /// Requests received, by path.
        public internal(set) var requests: [String: Int] = [:]
        /// Requests received.
        public internal(set) var totalRequests = 0
        /// Requests that were received and are not yet answered to the last byte.
        public internal(set) var runningRequests = 0
        /// The most requests that were running at one time.
        public internal(set) var maximumRunningRequests = 0
        /// Connections accepted.
        public internal(set) var openedConnections = 0
        /// Connections accepted and not yet closed.
        public internal(set) var openConnections = 0
        /// Bytes of bodies that the kernel has taken, by path; chunk sizes and heads are not counted.
        public internal(set) var bodyBytesSent: [String: Int] = [:]
    }
}
