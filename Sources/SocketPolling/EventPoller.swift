import Synchronization

/// A poller that waits for sockets and for wake-ups.
///
/// While the process has no descriptor for an ``EpollPoller``, it only waits for wake-ups, until ``open()`` succeeds.
///
/// `@unchecked Sendable`: the state used by ``wake()`` is atomic, locked, or constant once an atomic flag is set; all
/// other state is used only by the waiting thread once it runs.
package final class EventPoller: @unchecked Sendable {
    /// The poller of the system, which is set once, before ``isOpen``.
    private var system: EpollPoller?
    private let isOpen = Atomic(false)
    /// The flag raised by ``wake()`` until there is a system poller.
    private let flag = WakeUpFlag()
    private var watches = WatchTable()

    /// The number of open connections.
    package var connectionCount: Int { watches.connectionCount }

    /// Creates a poller, which is open if there are descriptors for it.
    package init() {
        open()
    }

    /// Opens the poller if it is not open yet.
    ///
    /// Returns `false` if the process has no descriptors for it; sockets cannot be watched in this case.
    @discardableResult
    package func open() -> Bool {
        if system != nil { return true }
        guard let poller = EpollPoller() else { return false }
        system = poller
        isOpen.store(true, ordering: .releasing)
        return true
    }

    /// Ends the current wait, or the next one.
    ///
    /// Can be called from any thread.
    package func wake() {
        if isOpen.load(ordering: .acquiring), let system {
            system.wake()
        } else {
            flag.raise()
        }
    }

    /// Starts to watch `descriptor`, or changes the events it is watched for.
    package func watch(_ descriptor: Int32, for interest: WatchTable.Interest) {
        apply(watches.watch(descriptor, for: interest))
    }

    /// Stops reporting the events of `descriptor`.
    package func forget(_ descriptor: Int32) {
        apply(watches.forget(descriptor))
    }

    /// Records that `descriptor` is an open connection; ``connectionClosed(_:)`` follows.
    package func connectionOpened(_ descriptor: Int32) { watches.connectionOpened(descriptor) }

    /// Records that `descriptor` is about to be closed, after which the kernel stops watching it.
    package func connectionClosed(_ descriptor: Int32) { watches.connectionClosed(descriptor) }

    /// Waits until an event occurs, ``wake()`` is called, or `timeout` has passed; `nil` means no limit.
    ///
    /// Returns the number of events to ``deliver(_:to:)``.
    package func wait(timeout: Duration?) -> Int {
        if let system { return system.wait(timeout: timeout) }
        flag.wait(timeout: timeout)
        return 0
    }

    /// Delivers the events of the last wait, except those of forgotten descriptors.
    package func deliver(_ count: Int, to handle: (SocketEvent) -> Void) {
        guard let poller = system else { return }
        for index in 0..<count {
            guard let event = poller.event(at: index) else { continue }
            switch watches.reaction(to: event) {
            case .deliver: handle(event)
            case .ignore: break
            case .stopWatching(let change): poller.apply(change)
            }
        }
    }

    private func apply(_ change: WatchTable.Change?) {
        if let change { system?.apply(change) }
    }
}
