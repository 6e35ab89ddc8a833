/// Timing and size metrics of a transfer.
///
/// Times are measured from its start; those of the connection are zero if it was reused.
public struct TransferMetrics: Sendable, Hashable {
    /// The time until the host's addresses were known.
    public var resolved: Duration = .zero
    /// The time until TCP was connected.
    public var connected: Duration = .zero
    /// The time until the TLS handshake was complete; zero without TLS.
    public var secured: Duration = .zero
    /// The time until the first byte of the response.
    public var firstByte: Duration = .zero
    /// The time until the end.
    public var total: Duration = .zero
    /// The number of bytes of body received.
    public var bodyBytes = 0
    /// A Boolean value that indicates whether the last hop reused a connection.
    public var reusedConnection = false
    /// The protocol of the last hop: `HTTP/1.1`, `HTTP/2`.
    public var protocolName = ""
    /// The number of redirects followed.
    public var redirectCount = 0

    /// Creates empty metrics.
    public init() {}
}
