/// Timing and size metrics of a transfer.
///
/// Times are measured from the start of the transfer. If its connection was reused, the times for TCP and TLS are zero;
/// if no name had to be looked up, so is the time for name resolution.
public struct TransferMetrics: Sendable, Hashable {
    /// The time until the host's addresses were known.
    public var nameLookupDuration: Duration = .zero
    /// The time until TCP was connected.
    public var connectDuration: Duration = .zero
    /// The time until the TLS handshake was complete; zero without TLS.
    public var tlsDuration: Duration = .zero
    /// The time until the first byte of the response.
    public var timeToFirstByte: Duration = .zero
    /// The time until the end of the transfer.
    public var totalDuration: Duration = .zero
    /// The number of received bytes of the body.
    public var bodyBytes = 0
    /// A Boolean value that indicates whether the last request, after redirects, reused a connection.
    public var reusedConnection = false
    /// The protocol of the last request, after redirects, such as `HTTP/1.1` or `HTTP/2`.
    public var protocolName = ""
    /// The number of redirects followed.
    public var redirectCount = 0

    /// Creates empty metrics.
    public init() {}
}
