/// Where the time of a transfer went.
///
/// Times are counted from its start; those of the connection are zero when it was reused.
public struct TransferMetrics: Sendable, Hashable {
    /// Until the host's addresses were known.
    public var resolved: Duration = .zero
    /// Until TCP was connected.
    public var connected: Duration = .zero
    /// Until TLS was agreed on; zero without TLS.
    public var secured: Duration = .zero
    /// Until the first byte of the answer.
    public var firstByte: Duration = .zero
    /// Until the end.
    public var total: Duration = .zero
    /// Bytes of body received.
    public var bodyBytes = 0
    /// A Boolean value that indicates whether the last hop went over a connection that already stood.
    public var reusedConnection = false
    /// The protocol of the last hop: `HTTP/1.1`, `HTTP/2`.
    public var protocolName = ""
    /// Redirects followed.
    public var redirectCount = 0

    /// Metrics of nothing yet.
    public init() {}
}
