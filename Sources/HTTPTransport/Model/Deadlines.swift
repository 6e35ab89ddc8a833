/// How long the parts of a transfer may take; nil means for ever.
///
/// Precise to about 10 milliseconds.
public struct Deadlines: Sendable, Hashable {
    /// From the start, or from a redirect, until the addresses of the host are known, if they have to be looked up.
    ///
    /// The system's lookup cannot be stopped: it may go on for nobody.
    public var lookup: Duration?
    /// From the start, or from a redirect, until the connection stands: name resolution, TCP and TLS.
    public var connect: Duration?
    /// From the sent request to the status line of the answer.
    ///
    /// Interim (1xx) responses do not count.
    public var firstByte: Duration?
    /// Between two pieces of the answer: its status line, the end of its head, and each piece of its body.
    ///
    /// Neither single header fields nor trailers count. Time during which the receiver has paused the transfer does not count.
    public var idle: Duration?
    /// From the start to the end, redirects and pauses included.
    public var total: Duration?

    /// 8 seconds for a name, 10 to connect, 15 to the first byte, 15 without any byte, 10 minutes in total: a server that
    /// drips a byte now and then does not hold a slot for ever.
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

    /// Which deadline passed.
    public enum Kind: String, Sendable, Hashable {
        /// See ``Deadlines/lookup``.
        case lookup
        /// See ``Deadlines/connect``.
        case connect
        /// See ``Deadlines/firstByte``.
        case firstByte
        /// See ``Deadlines/idle``.
        case idle
        /// See ``Deadlines/total``.
        case total
    }
}
