extension CurlTransport {
    /// What is the same for all transfers.
    public struct Configuration: Sendable {
        /// The maximum number of connections that are kept for reuse.
        ///
        /// Not below the number of transfers at a time, or connections are closed that are needed again at once.
        public var connectionCacheSize: Int
        /// The maximum number of connections that are open at a time, idle ones included; nil for half of the files that
        /// the process may open (`RLIMIT_NOFILE`) when the transport is made.
        ///
        /// At the limit a new connection takes the place of an idle one, or waits until there is one.
        public var connectionLimit: Int?
        /// A Boolean value that indicates whether to use a proxy.
        ///
        /// The environment's, by default.
        public var proxy: ProxyRule
        /// Whom to trust, and who we are.
        public var tls: TLSOptions

        /// What finds the addresses of hosts: the system, by default.
        ///
        /// What is left to a proxy is not asked for here. Copies of a configuration share it.
        public var resolver: any HostResolver
        /// Who may be talked to: everybody, by default.
        public var policy: NetworkPolicy

        /// What is asked for credentials that requests do not bring along themselves; nil if nobody is.
        public var credentials: (any CredentialProvider)?

        /// A file of cookies to begin with (Netscape's format, as browsers and curl write it); nil for none.
        ///
        /// Only requests with ``TransportRequest/handlesCookies`` use the transport's cookies, which are kept in memory.
        public var cookieFile: String?

        /// 256 idle connections, half of the process's file descriptors for all, the environment's proxy, the
        /// system's certificate authorities.
        public init(
            connectionCacheSize: Int = 256, connectionLimit: Int? = nil, proxy: ProxyRule = .environment,
            tls: TLSOptions = TLSOptions(),
            policy: NetworkPolicy = NetworkPolicy(), resolver: any HostResolver = ThreadedResolver(),
            credentials: (any CredentialProvider)? = nil, cookieFile: String? = nil
        ) {
            self.connectionCacheSize = connectionCacheSize
            self.connectionLimit = connectionLimit
            self.proxy = proxy
            self.tls = tls
            self.policy = policy
            self.resolver = resolver
            self.credentials = credentials
            self.cookieFile = cookieFile
        }
    }
}
