/// What finds the addresses of hosts for a ``CurlTransport``: ``ThreadedResolver``, or one of your own.
public protocol HostResolver: Sendable {
    /// The addresses of `host`, a name in lower case, in the order in which they are to be tried; IPv4 and IPv6 together.
    ///
    /// Asked for a host only while no lookup of it is under way; the transport keeps the answer for a minute. The task
    /// is canceled when nobody waits for the answer any longer. Throws ``LookupFailure`` if there are none; any other
    /// error is taken for one that passes.
    func addresses(of host: String) async throws -> [IPAddress]
}

/// Why a host has no address.
public struct LookupFailure: Error, Sendable, Hashable {
    /// What the resolver says of it.
    public let message: String
    /// A Boolean value that indicates whether the next request may ask again at once; otherwise the failure is
    /// remembered for five seconds.
    public let isTemporary: Bool

    /// A failure that the resolver explains by `message`.
    public init(message: String, isTemporary: Bool = false) {
        self.message = message
        self.isTemporary = isTemporary
    }
}

extension LookupFailure {
    /// The process, or the system, has no file descriptor left to ask with.
    static let tooManyOpenFiles = LookupFailure(message: "too many open files", isTemporary: true)
}
