import Threading

extension CurlTransport {
    /// The settings shared by all transfers.
    public struct Configuration: Sendable {
        /// The maximum number of connections that are kept for reuse; `nil` for as many as ``maximumConnections``
        /// allows, but at most 2,048.
        ///
        /// An idle connection takes a file descriptor and, with TLS, up to 36 KB of memory. Use at least the number of
        /// concurrent transfers; otherwise, connections are closed that the next transfers could have reused.
        public var maximumIdleConnections: Int?
        /// The maximum number of connections open at a time, including idle ones; `nil` for half of the files that
        /// the process may open (`RLIMIT_NOFILE`) when the transport is created.
        ///
        /// At the limit, a new connection replaces an idle one, or waits until there is one.
        public var maximumConnections: Int?
        /// The maximum number of threads for transfers, from 1 to 16; by default ``defaultThreadCount``.
        ///
        /// Another thread is started when each of the others has several transfers. The limits on connections,
        /// including idle ones, apply to all threads together, so there are no more threads than either limit. Values
        /// outside of the range are replaced by the nearest one.
        public var threadCount: Int
        /// The rule that selects a proxy; by default, that of the environment variables.
        public var proxy: ProxyRule
        /// The TLS settings, such as trusted authorities and client certificates.
        public var tls: TLSOptions

        /// The resolver of host names; by default, the system's.
        ///
        /// It is not used for names that a proxy resolves. Copies of a configuration share it.
        public var resolver: any HostResolver
        /// The network policy; by default, everything is allowed.
        public var policy: NetworkPolicy

        /// The provider of credentials for requests that have none; `nil` for none.
        public var credentialProvider: (any CredentialProvider)?

        /// A file of initial cookies (Netscape format, as written by browsers and curl); `nil` for none.
        ///
        /// Only requests with ``TransportRequest/handlesCookies`` use the transport's cookies. New cookies are kept in
        /// memory; they are not written to the file.
        public var cookieFile: String?

        /// Creates a configuration.
        ///
        /// By default, connections use at most half of the process's file descriptors, and up to 2,048 of them are kept
        /// for reuse. There are one to four threads, depending on the number of processors, and the environment's proxy
        /// and the system's certificate authorities apply.
        public init(
            maximumIdleConnections: Int? = nil, maximumConnections: Int? = nil, proxy: ProxyRule = .environment,
            tls: TLSOptions = TLSOptions(),
            policy: NetworkPolicy = NetworkPolicy(), resolver: any HostResolver = ThreadedResolver(),
            credentialProvider: (any CredentialProvider)? = nil, cookieFile: String? = nil,
            threadCount: Int = Configuration.defaultThreadCount
        ) {
            self.maximumIdleConnections = maximumIdleConnections
            self.maximumConnections = maximumConnections
            self.proxy = proxy
            self.tls = tls
            self.policy = policy
            self.resolver = resolver
            self.credentialProvider = credentialProvider
            self.cookieFile = cookieFile
            self.threadCount = threadCount
        }

        /// The maximum number of connections that are kept for reuse if ``maximumIdleConnections`` is `nil`.
        ///
        /// A list of many hosts would otherwise keep as many as there are descriptors, with TLS of up to 36 KB each.
        static let defaultIdleConnections = 2_048

        /// Raises the number of connections that are kept for reuse, if necessary, so that as many concurrent transfers
        /// as `count` can reuse theirs.
        package mutating func keepIdleConnections(of count: Int) {
            if count > maximumIdleConnections ?? Self.defaultIdleConnections { maximumIdleConnections = count }
        }

        /// A quarter of the processors available to this process, from 1 to 4.
        ///
        /// With few processors, the other threads of the process need them.
        public static let defaultThreadCount = threadCount(processors: availableProcessorCount())

        /// Returns the default number of threads for this number of processors.
        static func threadCount(processors: Int) -> Int { max(1, min(4, processors / 4)) }
    }
}
