/// The negotiation of TLS over a new connection, for a transfer.
final class TLSHandshake {
    let tls: TLSConnection
    let key: ConnectionKey
    /// The time when the connection was established.
    let connected: MonotonicInstant
    /// The transfer for which the connection was opened.
    let transfer: ActiveTransfer
    /// A Boolean value that indicates whether the transfer has ended.
    var hasEnded = false

    init(_ tls: TLSConnection, key: ConnectionKey, connected: MonotonicInstant, for transfer: ActiveTransfer) {
        self.tls = tls
        self.key = key
        self.connected = connected
        self.transfer = transfer
    }
}
