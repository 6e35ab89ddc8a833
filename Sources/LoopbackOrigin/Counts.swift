extension LoopbackOrigin {
    /// The counts of an origin's activity at one moment.
    public struct Counts: Sendable, Hashable {
        /// The number of requests received, by path.
        public internal(set) var requests: [String: Int] = [:]
        /// The number of requests received.
        public internal(set) var totalRequests = 0
        /// The number of requests received whose responses are not complete.
        public internal(set) var runningRequests = 0
        /// The maximum number of concurrent requests so far.
        public internal(set) var maximumRunningRequests = 0
        /// The number of connections accepted.
        public internal(set) var openedConnections = 0
        /// The number of connections accepted and not yet closed.
        public internal(set) var openConnections = 0
        /// The number of body bytes accepted by the kernel, by path; without chunk sizes and heads.
        public internal(set) var bodyBytesSent: [String: Int] = [:]
    }
}
