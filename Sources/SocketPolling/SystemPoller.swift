/// The system-dependent part of an ``EventPoller``, which is epoll.
///
/// Every event is reported by each ``wait(timeout:)`` while its cause persists. ``wake()`` can be called from any
/// thread, all other methods by one thread at a time.
package protocol SystemPoller: AnyObject, Sendable {
    /// Opens the poller; returns `nil` if the process has no descriptors for it.
    init?()

    /// Changes the watched events.
    ///
    /// Afterward, all events in `change.new` are watched, even if the kernel has forgotten the socket in the
    /// meantime.
    func apply(_ change: WatchTable.Change)

    /// Ends the current ``wait(timeout:)``, or the next one.
    ///
    /// Several calls before a wait end only that wait.
    func wake()

    /// Waits until an event occurs, ``wake()`` is called, or `timeout` has passed; `nil` means no limit.
    ///
    /// Returns the number of events, 0 if there are none or a signal has interrupted the wait. It never returns early
    /// without a reason.
    func wait(timeout: Duration?) -> Int

    /// Returns an event of the last wait; `nil` if it is a wake-up.
    func event(at index: Int) -> SocketEvent?
}

/// An event of a socket.
package struct SocketEvent: Equatable, Sendable {
    package let descriptor: Int32
    /// A number that distinguishes the socket from an earlier one with the same descriptor, whose event can be in the
    /// same batch.
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
