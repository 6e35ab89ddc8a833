/// A transport whose thread can do more than its transfers.
///
/// Work that belongs to transfers costs less there than on another thread, which would have to be woken, and whose
/// processor would have to fetch everything that the transport has just written.
package protocol WorkPerforming: Transport {
    /// Performs `work` on the thread of all transfers, after everything that was requested before.
    ///
    /// The transfers wait meanwhile: the work must neither block nor be expensive.
    ///
    /// Returns `false` if there is no such thread: none has been started, or there are several.
    func perform(_ work: @escaping @Sendable () -> Void) -> Bool
}
