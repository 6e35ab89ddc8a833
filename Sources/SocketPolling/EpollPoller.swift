import CLinux
import Glibc

/// A poller that uses epoll and an eventfd.
///
/// Every event is reported by each ``wait(timeout:)`` while its cause persists. ``wake()`` can be called from any
/// thread, all other methods by one thread at a time.
///
/// `@unchecked Sendable`: the kernel serializes operations on the descriptors; only the waiting thread uses the
/// buffer.
@safe
package final class EpollPoller: @unchecked Sendable {
    private static let batch = 256
    /// The number of the eventfd; numbers of a ``WatchTable`` start at 1.
    private static let wakeUpNumber: UInt32 = 0

    private let epoll: Int32
    private let wakeUp: Int32
    private let buffer: UnsafeMutablePointer<epoll_event>

    /// Opens the poller; returns `nil` if the process has no descriptors for it.
    package init?() {
        let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        let wakeUp = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        // Edge-triggered: each write is reported once, so that the counter need not be read, which saves a system call
        // for each wake-up. It cannot overflow.
        var event = unsafe Self.event(
            wakeUp, number: Self.wakeUpNumber, mask: EPOLLIN.rawValue | EPOLLET.rawValue)
        guard epoll >= 0, wakeUp >= 0, unsafe epoll_ctl(epoll, EPOLL_CTL_ADD, wakeUp, &event) == 0 else {
            for descriptor in [epoll, wakeUp] where descriptor >= 0 { close(descriptor) }
            return nil
        }
        self.epoll = epoll
        self.wakeUp = wakeUp
        unsafe buffer = .allocate(capacity: Self.batch)
    }

    deinit {
        close(epoll)
        close(wakeUp)
        unsafe buffer.deallocate()
    }

    /// Changes the watched events.
    ///
    /// Afterward, all events in `change.new` are watched, even if the kernel has forgotten the socket in the
    /// meantime.
    package func apply(_ change: WatchTable.Change) {
        var mask: UInt32 = 0
        if change.new.contains(.readable) { mask |= EPOLLIN.rawValue }
        if change.new.contains(.writable) { mask |= EPOLLOUT.rawValue }
        var event = unsafe Self.event(change.descriptor, number: change.number, mask: mask)
        guard !change.new.isEmpty else {
            unsafe epoll_ctl(epoll, EPOLL_CTL_DEL, change.descriptor, &event)
            return
        }
        let isNew = change.old.isEmpty
        let (first, second) = isNew ? (EPOLL_CTL_ADD, EPOLL_CTL_MOD) : (EPOLL_CTL_MOD, EPOLL_CTL_ADD)
        // The kernel forgets closed descriptors, even if the table still lists them.
        if unsafe epoll_ctl(epoll, first, change.descriptor, &event) != 0 {
            unsafe epoll_ctl(epoll, second, change.descriptor, &event)
        }
    }

    /// Ends the current ``wait(timeout:)``, or the next one.
    ///
    /// Several calls before a wait end only that wait.
    package func wake() {
        var one: UInt64 = 1
        _ = unsafe write(wakeUp, &one, 8)
    }

    /// Waits until an event occurs, ``wake()`` is called, or `timeout` has passed; `nil` means no limit.
    ///
    /// Returns the number of events, 0 if there are none or a signal has interrupted the wait. It never returns early
    /// without a reason.
    package func wait(timeout: Duration?) -> Int {
        let milliseconds = timeout.map { $0.roundedUpMilliseconds } ?? -1
        return unsafe max(0, Int(epoll_wait(epoll, buffer, Int32(Self.batch), milliseconds)))
    }

    /// Returns an event of the last wait; `nil` if it is a wake-up.
    package func event(at index: Int) -> SocketEvent? {
        let (data, mask) = unsafe (buffer[index].data.u64, buffer[index].events)
        let number = UInt32(data >> 32)
        guard number != Self.wakeUpNumber else { return nil }
        return SocketEvent(
            descriptor: Int32(truncatingIfNeeded: data), number: number,
            isReadable: mask & (EPOLLIN.rawValue | EPOLLHUP.rawValue) != 0,
            isWritable: mask & EPOLLOUT.rawValue != 0,
            isBroken: mask & EPOLLERR.rawValue != 0)
    }

    private static func event(_ descriptor: Int32, number: UInt32, mask: UInt32) -> epoll_event {
        let data = UInt64(number) << 32 | UInt64(UInt32(bitPattern: descriptor))
        return unsafe epoll_event(events: mask, data: epoll_data(u64: data))
    }
}

extension Duration {
    /// The duration in whole milliseconds, rounded up.
    fileprivate var roundedUpMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        guard seconds < 1_000_000 else { return 1_000_000_000 }
        return Int32(max(0, seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
    }
}
