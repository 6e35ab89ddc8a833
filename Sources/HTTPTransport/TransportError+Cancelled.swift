extension TransportError {
    /// Returns the error of a canceled request for `url`.
    package static func cancelled(_ url: HTTPURL) -> TransportError {
        TransportError(url: url.string, reason: .cancelled)
    }
}
