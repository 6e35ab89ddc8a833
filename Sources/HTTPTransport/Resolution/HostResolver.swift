/// A resolver of host names for a ``CurlTransport``: ``ThreadedResolver``, or a custom one.
public protocol HostResolver: Sendable {
    /// Returns the addresses of `host`, a lowercase name, in the order in which to try them; IPv4 and IPv6 combined.
    ///
    /// This method is called only while no other lookup of the same host is active; the transport caches the result for
    /// a minute. The task is canceled when no request waits for the result anymore. Throws ``LookupFailure`` if there
    /// are no addresses; any other error is treated as temporary.
    func addresses(of host: String) async throws -> [IPAddress]
}

/// The reason why a host has no address.
public struct LookupFailure: Error, Sendable, Hashable {
    /// The resolver's message.
    public let message: String
    /// A Boolean value that indicates whether the failure is temporary, so that the next request looks up the host
    /// again.
    ///
    /// Other failures are cached for five seconds.
    public let isTemporary: Bool

    /// Creates a failure with a message.
    public init(message: String, isTemporary: Bool = false) {
        self.message = message
        self.isTemporary = isTemporary
    }
}

extension LookupFailure {
    /// There is no file descriptor left for the lookup.
    static let tooManyOpenFiles = LookupFailure(message: "too many open files", isTemporary: true)
}
