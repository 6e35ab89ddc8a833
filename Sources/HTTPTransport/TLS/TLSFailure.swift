/// The reason why a connection with TLS could not be made, or cannot be used any longer.
struct TLSFailure: Error, Equatable {
    enum Kind {
        /// TLS could not be negotiated, or one side does not accept the certificate of the other.
        case rejected
        /// The connection broke off, or what arrives is not valid.
        case brokenOff
        /// The server closed the connection without announcing it in TLS, so anyone on the way could have done it.
        case unannouncedEnd
        /// The process or the system has no file descriptor left for a file.
        case tooManyOpenFiles
        /// The server sends endless data that belong to no response.
        case endlessData
    }

    let kind: Kind
    /// A description in plain words, with the text of OpenSSL or the system where it adds information.
    let detail: String

    /// The failure of a connection that has been closed by this side.
    static let closed = TLSFailure(kind: .brokenOff, detail: "the connection has been closed")
}
