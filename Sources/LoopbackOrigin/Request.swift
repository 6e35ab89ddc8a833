extension LoopbackOrigin {
    /// A request as the origin received it.
    ///
    /// Its body, if any, is read and dropped.
    public struct Request: Sendable, Hashable {
        /// The method, such as `GET`.
        public let method: String
        /// What stood in the request line: path and query.
        public let target: String
        /// The header fields in the order of arrival.
        public let headerFields: HeaderFields
        /// The how-manieth request to this path it is, from 1.
        public let ordinal: Int
        /// The connection it came over: connections are numbered from 1 as they are accepted.
        public let connection: Int

        let isKeepAlive: Bool

        /// The target up to the question mark.
        public var path: String { Self.path(of: target) }

        /// The target after the question mark, or nil if there is none.
        public var query: String? {
            target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
        }

        static func path(of target: String) -> String {
            String(target.prefix { $0 != "?" })
        }
    }
}
