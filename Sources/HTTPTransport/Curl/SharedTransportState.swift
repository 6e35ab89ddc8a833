import Threading

/// The state shared by the threads of a transport; it refers to none of them.
final class SharedTransportState: Sendable {
    let configuration: CurlTransport.Configuration
    /// The network policy; `nil` if it has no rules.
    let policy: NetworkPolicy?
    let dnsCache: DNSCache
    let credentials: SharedCredentials
    let cookies: SharedCookies
    /// The limits of each thread.
    let limits: [ThreadLimits]
    /// The assignment of transfers to threads; `nil` if there is one thread only.
    private let assignment: Locked<TransferAssignment>?

    init(_ configuration: CurlTransport.Configuration, dnsCache: DNSCache?, openFileLimit: Int) {
        self.configuration = configuration
        policy = configuration.policy.allowsAll ? nil : configuration.policy
        self.dnsCache = dnsCache ?? DNSCache(resolver: configuration.resolver)
        credentials = SharedCredentials(provider: configuration.credentialProvider)
        cookies = SharedCookies(file: configuration.cookieFile)
        limits = ThreadLimits.divided(configuration, openFileLimit: openFileLimit)
        assignment =
            limits.count > 1 ? Locked(TransferAssignment(capacities: limits.map(\.connectionsInUse))) : nil
    }

    /// Returns the key of a request's connections; `nil` if there is one thread only.
    func connectionKey(of url: HTTPURL) -> ConnectionKey? {
        assignment == nil ? nil : ConnectionKey(url, proxy: configuration.proxy.proxy(for: url))
    }

    /// Returns the assignment of transfers, for one of the threads.
    func assignment(of thread: Int) -> ThreadAssignment { ThreadAssignment(assignment, thread: thread) }

    /// Makes a decision of the assignment.
    func assign<Result: Sendable>(_ body: (inout TransferAssignment) -> Result) -> Result? {
        assignment?.withLock { body(&$0) }
    }
}

/// A thread's part of the limits of a transport.
struct ThreadLimits: Sendable, Equatable {
    /// The maximum number of connections that are kept for reuse.
    let idleConnections: Int
    /// The maximum number of open connections.
    let connections: Int

    /// The number of connections that can be in use before others have to be closed, or transfers have to wait.
    var connectionsInUse: Int { max(1, min(idleConnections, connections)) }

    /// Returns the limits of each thread; their sums are those of the configuration.
    ///
    /// There are no more threads than either limit.
    static func divided(_ configuration: CurlTransport.Configuration, openFileLimit: Int) -> [ThreadLimits] {
        let connections = ConnectionLimit(configuration.maximumConnections, openFileLimit: openFileLimit).maximum
        let idle =
            configuration.maximumIdleConnections
            ?? min(connections, CurlTransport.Configuration.defaultIdleConnections)
        let maximum = TransferAssignment.maximumThreads
        let count = max(1, min(configuration.threadCount, maximum, connections, idle))
        return (0..<count).map { thread in
            ThreadLimits(
                idleConnections: idle / count + (thread < idle % count ? 1 : 0),
                connections: connections / count + (thread < connections % count ? 1 : 0))
        }
    }
}
