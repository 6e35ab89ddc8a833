/// The part of an ``EventPoller`` that depends on the system: epoll or kqueue.
///
/// Every event is reported by each ``wait(timeout:)`` for as long as its cause lasts. ``wake()`` may be called from any
/// thread, everything else by one thread at a time.
package protocol SystemPoller: AnyObject, Sendable {
    /// Opens the poller; nil if the process has no descriptors for it.
    init?()

    /// Changes what is watched.
    ///
    /// Afterwards everything in `change.new` is watched, even if the kernel has forgotten the socket meanwhile.
    func apply(_ change: WatchTable.Change)

    /// Ends the ``wait(timeout:)`` that is under way, or the next one.
    ///
    /// Any number of calls before a wait end that one alone.
    func wake()

    /// Waits until something happens, ``wake()`` is called, or `timeout` has passed; nil waits without end.
    ///
    /// Returns the number of events, 0 if there are none or a signal has interrupted the wait. It never returns before
    /// the time without a reason.
    func wait(timeout: Duration?) -> Int

    /// Returns an event of the last wait; nil if it is a wake-up.
    func event(at index: Int) -> SocketEvent?
}

/// What happened to one socket.
package struct SocketEvent: Equatable, Sendable {
    package let descriptor: Int32
    /// Tells the socket from an earlier one with the same descriptor, whose event may be in the same batch.
    package let number: UInt32
    package let isReadable: Bool
    package let isWritable: Bool
    package let isBroken: Bool

    package init(descriptor: Int32, number: UInt32, isReadable: Bool, isWritable: Bool, isBroken: Bool) {
        self.descriptor = descriptor
        self.number = number
        self.isReadable = isReadable
        self.isWritable = isWritable
        self.isBroken = isBroken
    }
}
