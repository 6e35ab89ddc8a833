extension LoopbackOrigin {
    /// A request as the origin received it.
    ///
    /// Its body, if any, is read and discarded.
    public struct Request: Sendable, Hashable {
        /// The method, such as `GET`.
        public let method: String
        /// The request target: path and query.
        public let target: String
        /// The header fields in the order of arrival.
        public let headerFields: HeaderFields
        /// The number of this request among those for the path, from 1.
        public let ordinal: Int
        /// The number of the connection, counted from 1 in the order of acceptance.
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
