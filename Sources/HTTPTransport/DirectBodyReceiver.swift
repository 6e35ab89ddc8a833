/// A receiver that has parts of a body written to its own memory, which saves copying them.
package protocol DirectBodyReceiver: TransferReceiver {
    /// Receives the next bytes of the body, at most `count`, which `read` appends to memory of this receiver; none if
    /// they have not arrived.
    ///
    /// A receiver that does not take them this way returns `nil`, and gets them by ``TransferReceiver/receive(_:)``.
    /// `read` must be called at most once, and not if the result is `nil` or `pause`. It does not wait, so it can be called
    /// while a lock is held.
    func receive(upTo count: Int, reading read: (inout OutputSpan<UInt8>) -> Void) -> BodyDemand?
}
