/// Time limits for the phases of a transfer; `nil` means no limit.
///
/// The limits are precise to about 10 milliseconds.
public struct Deadlines: Sendable, Hashable {
    /// The limit from the start of the transfer, or from a redirect, until the addresses of the host are known, if a
    /// lookup is needed.
    ///
    /// The system's lookup cannot be interrupted; it can continue after the transfer has ended.
    public var lookup: Duration?
    /// The limit from the start of the transfer, or from a redirect, until the connection is established: name
    /// resolution, TCP, and TLS.
    public var connect: Duration?
    /// The limit from sending the request until the status line of the response.
    ///
    /// Interim (1xx) responses do not count.
    public var firstByte: Duration?
    /// The limit between two parts of the response: its status line, the end of its head, and each piece of its body.
    ///
    /// Single header fields and trailers do not count as parts. Time during which the receiver has paused the
    /// transfer does not count.
    public var idle: Duration?
    /// The limit from the start to the end of the transfer, including redirects and pauses.
    ///
    /// In `DownloadConfiguration.deadlines`, it limits the whole download, including all of its attempts.
    public var total: Duration?

    /// Creates time limits.
    ///
    /// The defaults are 8 seconds for name resolution, 10 seconds to connect, 15 seconds to the first byte, 15 seconds
    /// between two parts, and 10 minutes in total. The total limit prevents a server from occupying a slot indefinitely
    /// by sending single bytes.
    public init(
        lookup: Duration? = .seconds(8),
        connect: Duration? = .seconds(10),
        firstByte: Duration? = .seconds(15),
        idle: Duration? = .seconds(15),
        total: Duration? = .seconds(600)
    ) {
        self.lookup = lookup
        self.connect = connect
        self.firstByte = firstByte
        self.idle = idle
        self.total = total
    }

    /// A kind of deadline.
    public enum Kind: String, Sendable, Hashable {
        /// The deadline ``Deadlines/lookup``.
        case lookup
        /// The deadline ``Deadlines/connect``.
        case connect
        /// The deadline ``Deadlines/firstByte``.
        case firstByte
        /// The deadline ``Deadlines/idle``.
        case idle
        /// The deadline ``Deadlines/total``.
        case total
    }
}
