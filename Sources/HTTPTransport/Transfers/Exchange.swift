/// The request of a transfer's present hop, on its way to the server, and the response.
///
/// Each has its own kind of connection, or is left to another library.
protocol Exchange: AnyObject {
    /// A Boolean value that indicates whether the connection was used before.
    var reusesConnection: Bool { get }
    /// A Boolean value that indicates whether other transfers can share the connection.
    var isShared: Bool { get }
    /// Adds the properties of the connection and of the response to the metrics of a transfer that began at `start`.
    ///
    /// Valid while the transfer still has its connection. The total time has been set.
    func describe(in metrics: inout TransferMetrics, from start: MonotonicInstant)
}

/// The end of an ``Exchange``.
enum ExchangeEnd {
    /// The response is complete.
    case complete
    /// The transfer has ended it, for ``ActiveTransfer/abortReason``, or because its response is intermediate and the
    /// remainder is not needed.
    case aborted
    /// The exchange failed.
    case failed(TransportError, Repetition)

    /// The condition for sending the request again, over a new connection.
    enum Repetition {
        /// The request must not be sent again.
        case never
        /// The connection was used before, and no response had begun: the server closed it just as the request was sent
        /// (RFC 9112, section 9.3.1).
        case ifReused
        /// No response had begun.
        case ifUnanswered
        /// The server has announced not to have processed the request (RFC 9113, section 8.7).
        case ifRefused
        /// There was no file descriptor for a connection, and another connection can be closed.
        case ifReplaced
    }
}

/// The times when a connection was established.
struct ConnectionStart {
    /// The time when the server had accepted the connection.
    let connected: MonotonicInstant
    /// The time when TLS had been negotiated; `nil` without TLS.
    var secured: MonotonicInstant?

    /// The time when the connection could be used.
    var end: MonotonicInstant { secured ?? connected }
}
