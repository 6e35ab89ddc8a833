/// What makes HTTP requests: ``CurlTransport``, or a stand-in.
public protocol Transport: Sendable {
    /// Starts a transfer at once and returns its handle.
    ///
    /// `receiver` is told of the final response's head once, of its body in order, and of the end exactly once, all on
    /// the transport's own thread. How many transfers run at a time is the caller's decision.
    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer
}

/// The handle of a transfer that was started.
public protocol Transfer: AnyObject, Sendable {
    /// Stops the transfer wherever it is; its receiver then hears `failed` with reason `cancelled`, unless it has
    /// already heard the end. May be called at any time, from anywhere, any number of times.
    func cancel()

    /// Goes on after the receiver asked to pause; without effect otherwise.
    func resume()
}

/// What takes a response as it comes.
///
/// All calls come one after the other on the transport's thread, which carries every other transfer too: they must
/// neither block nor compute.
public protocol TransferReceiver: AnyObject, Sendable {
    /// The final response's head: redirects are behind us. Called at most once, before any body byte.
    func receive(_ head: ResponseHead)

    /// The next bytes of the body; the span is good for the call only.
    func receive(_ bytes: Span<UInt8>) -> BodyDemand

    /// The end; nothing comes after it.
    func finish(_ outcome: TransferOutcome)
}

/// What a receiver wants after it was offered bytes.
public enum BodyDemand: Sendable {
    /// The bytes were taken; more are welcome.
    case more
    /// The bytes were not taken; offer them again after ``Transfer/resume()``.
    case pause
    /// The bytes were taken, no more are wanted: end the transfer with ``TransferOutcome/stopped(_:)``.
    case stop
}

/// How a transfer ended.
public enum TransferOutcome: Sendable {
    /// The whole body came.
    case complete(TransferMetrics)
    /// The receiver asked to stop before the end.
    case stopped(TransferMetrics)
    /// There is no (whole) response.
    case failed(TransportError)
}
