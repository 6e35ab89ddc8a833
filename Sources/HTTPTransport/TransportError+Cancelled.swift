extension TransportError {
    /// The failure of a request for `url` that nobody wants any more.
    package static func cancelled(_ url: HTTPURL) -> TransportError {
        TransportError(url: url.string, reason: .cancelled)
    }
}
