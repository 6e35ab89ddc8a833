/// How long the parts of a transfer may take; nil means for ever.
///
/// Precise to about 10 milliseconds.
public struct Deadlines: Sendable, Hashable {
    /// From the start, or from a redirect, until the connection stands: name resolution, TCP and TLS.
    public var connect: Duration?
    /// From the sent request to the first byte of the answer.
    public var firstByte: Duration?
    /// Between two pieces of the answer, its head being one.
    ///
    /// Time during which the receiver has paused the transfer does not count.
    public var idle: Duration?
    /// From the start to the end, redirects and pauses included.
    public var total: Duration?

    /// 10 seconds to connect, 15 to the first byte, 15 without any byte, 10 minutes in total: a server that
    /// drips a byte now and then does not hold a slot for ever.
    public init(
        connect: Duration? = .seconds(10),
        firstByte: Duration? = .seconds(15),
        idle: Duration? = .seconds(15),
        total: Duration? = .seconds(600)
    ) {
        self.connect = connect
        self.firstByte = firstByte
        self.idle = idle
        self.total = total
    }

    /// Which deadline passed.
    public enum Kind: String, Sendable, Hashable {
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
