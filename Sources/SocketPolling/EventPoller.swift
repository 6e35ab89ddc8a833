import Synchronization

/// Waits for sockets and for a wake-up.
///
/// While the process has no descriptor left for a ``SystemPoller``, it waits for wake-ups alone, until ``open()``
/// succeeds.
///
/// `@unchecked Sendable`: what ``wake()`` uses is atomic or locked; everything else is touched only by the thread that
/// waits, once it runs.
package final class EventPoller: @unchecked Sendable {
    /// An atomic reference needs a class.
    private final class System: Sendable {
        let poller: any SystemPoller

        init(_ poller: any SystemPoller) {
            self.poller = poller
        }
    }

    private let type: any SystemPoller.Type
    private let system = AtomicLazyReference<System>()
    /// What ``wake()`` raises until there is a system poller.
    private let flag = WakeUpFlag()
    private var watches = WatchTable()

    /// The number of connections that are open.
    package var connectionCount: Int { watches.connectionCount }

    /// A poller, which is open if there are descriptors for it.
    package init(_ type: any SystemPoller.Type) {
        self.type = type
        open()
    }

    /// Opens the poller if it is not open yet.
    ///
    /// Returns false if the process has no descriptors for it; sockets cannot be watched then.
    @discardableResult
    package func open() -> Bool {
        if system.load() != nil { return true }
        guard let poller = type.init() else { return false }
        _ = system.storeIfNil(System(poller))
        return true
    }

    /// Ends the wait that is under way, or the next one.
    ///
    /// From any thread.
    package func wake() {
        if let system = system.load() {
            system.poller.wake()
        } else {
            flag.raise()
        }
    }

    /// Watches `descriptor` from now on, or for something else than before.
    package func watch(_ descriptor: Int32, for interest: WatchTable.Interest) {
        apply(watches.watch(descriptor, for: interest))
    }

    /// Nobody waits for the events of `descriptor` any longer.
    package func forget(_ descriptor: Int32) {
        apply(watches.forget(descriptor))
    }

    /// `descriptor` is a connection from now on; ``connectionClosed(_:)`` follows.
    package func connectionOpened(_ descriptor: Int32) { watches.connectionOpened(descriptor) }

    /// `descriptor` is about to be closed; the kernel then stops watching it by itself.
    package func connectionClosed(_ descriptor: Int32) { watches.connectionClosed(descriptor) }

    /// Waits until something happens, ``wake()`` is called, or `timeout` has passed; nil waits without end.
    ///
    /// Returns how many events there are to ``deliver(_:to:)``.
    package func wait(timeout: Duration?) -> Int {
        if let system = system.load() { return system.poller.wait(timeout: timeout) }
        flag.wait(timeout: timeout)
        return 0
    }

    /// Passes on the events of the last wait, except those that nobody waits for any longer.
    package func deliver(_ count: Int, to handle: (SocketEvent) -> Void) {
        guard let poller = system.load()?.poller else { return }
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
        if let change { system.load()?.poller.apply(change) }
    }
}
