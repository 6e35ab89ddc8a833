/// A client that performs HTTP requests: ``CurlTransport``, or a custom one.
public protocol Transport: Sendable {
    /// Starts a transfer immediately and returns its handle.
    ///
    /// `receiver` gets the final response's head once, its body in order, and the outcome exactly once, on a
    /// thread of the transport or before this method returns. The caller limits the number of concurrent transfers.
    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer
}

/// The handle of an active transfer.
public protocol Transfer: AnyObject, Sendable {
    /// Stops the transfer.
    ///
    /// Its receiver then gets the outcome `failed` with reason `cancelled`, unless it was already given one. This
    /// method can be called repeatedly, at any time, and from any thread.
    func cancel()

    /// Continues after the receiver has paused the transfer; otherwise does nothing.
    ///
    /// This method can be called from any thread, including in a cancellation handler and while a lock is held: make
    /// further calls to the receiver on another thread.
    func resume()
}

/// A receiver of a response while it arrives.
///
/// All calls are made in sequence, usually on a thread of the transport, which serves many transfers: they must neither
/// block nor perform expensive work.
public protocol TransferReceiver: AnyObject, Sendable {
    /// Receives the final response's head, after redirects. Called at most once, before any part of the body.
    func receive(_ head: ResponseHead)

    /// Receives the next bytes of the body; the span is valid only during the call.
    func receive(_ bytes: Span<UInt8>) -> BodyDemand

    /// Receives the outcome; no other call follows.
    ///
    /// Before it returns, the receiver can start, resume, and cancel transfers: do not call it while a lock is held.
    func finish(_ outcome: TransferOutcome)
}

/// A receiver's reaction to a part of the body.
public enum BodyDemand: Sendable {
    /// The bytes were taken; continue.
    case more
    /// The bytes were not taken; offer them again after ``Transfer/resume()``.
    case pause
    /// The bytes were taken and no more are needed: end the transfer with ``TransferOutcome/stopped(_:)``.
    case stop
}

/// The outcome of a transfer.
public enum TransferOutcome: Sendable {
    /// The whole body was received.
    case complete(TransferMetrics)
    /// The receiver stopped the transfer.
    case stopped(TransferMetrics)
    /// There is no complete response.
    case failed(TransportError)
}
