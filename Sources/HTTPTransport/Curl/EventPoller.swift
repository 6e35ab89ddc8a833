import CEpoll
import Glibc

/// Waits for sockets and for a wake-up, on epoll.
///
/// `@unchecked Sendable`: the two descriptors never change, and the kernel serialises what is done with them; the rest
/// is touched only by the thread that waits.
@safe
final class EventPoller: @unchecked Sendable {
    /// What happened to one socket.
    struct Event {
        let descriptor: Int32
        let isReadable: Bool
        let isWritable: Bool
        let isBroken: Bool
    }

    private static let batch = 256

    private let epoll: Int32
    private let wakeUp: Int32
    /// By descriptor, the number under which it is watched; 0 if it is not.
    ///
    /// The numbers tell a socket from an earlier one with the same descriptor, whose event may still be in the batch.
    private var watches: [UInt32] = []
    private var lastWatch: UInt32 = 0
    private let buffer: UnsafeMutablePointer<epoll_event>

    /// Traps if the system has no descriptor left for it: nothing could be transferred then.
    init() {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        wakeUp = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        unsafe buffer = .allocate(capacity: Self.batch)
        precondition(epoll >= 0 && wakeUp >= 0, "no file descriptor for epoll: errno \(errno)")
        var event = unsafe epoll_event(events: EPOLLIN.rawValue, data: epoll_data(u64: UInt64(wakeUp)))
        let status = unsafe epoll_ctl(epoll, EPOLL_CTL_ADD, wakeUp, &event)
        precondition(status == 0, "epoll_ctl: errno \(errno)")
    }

    deinit {
        close(epoll)
        close(wakeUp)
        unsafe buffer.deallocate()
    }

    /// Ends the wait that is under way, or the next one.
    ///
    /// From any thread.
    func wake() {
        var one: UInt64 = 1
        _ = unsafe write(wakeUp, &one, 8)
    }

    /// Watches `descriptor` from now on, or for something else than before.
    func watch(_ descriptor: Int32, readable: Bool, writable: Bool) {
        let index = Int(descriptor)
        guard index >= 0 else { return }
        while watches.count <= index { watches.append(0) }
        let isNew = watches[index] == 0
        if isNew {
            lastWatch = lastWatch == .max ? 1 : lastWatch + 1
            watches[index] = lastWatch
        }
        let mask = (readable ? EPOLLIN.rawValue : 0) | (writable ? EPOLLOUT.rawValue : 0)
        let data = unsafe epoll_data(u64: UInt64(watches[index]) << 32 | UInt64(index))
        var event = unsafe epoll_event(events: mask, data: data)
        let (first, second) = isNew ? (EPOLL_CTL_ADD, EPOLL_CTL_MOD) : (EPOLL_CTL_MOD, EPOLL_CTL_ADD)
        // The kernel forgets a descriptor that is closed, whatever we think of it.
        if unsafe epoll_ctl(epoll, first, descriptor, &event) != 0 {
            unsafe epoll_ctl(epoll, second, descriptor, &event)
        }
    }

    /// Watches `descriptor` no longer.
    func forget(_ descriptor: Int32) {
        let index = Int(descriptor)
        guard watches.indices.contains(index), watches[index] != 0 else { return }
        watches[index] = 0
        var event = unsafe epoll_event()
        unsafe epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &event)
    }

    /// Waits until something happens, ``wake()`` is called, or `timeout` has passed; nil waits without end.
    ///
    /// Returns how many events there are to ``deliver(_:to:)``.
    func wait(timeout: Duration?) -> Int {
        let milliseconds = timeout.map { $0.roundedUpMilliseconds } ?? -1
        return unsafe max(0, Int(epoll_wait(epoll, buffer, Int32(Self.batch), milliseconds)))
    }

    /// Hands over the events of the last wait, except those of sockets that are watched no longer by then.
    func deliver(_ count: Int, to handle: (Event) -> Void) {
        for index in 0..<count {
            let event = unsafe buffer[index]
            let data = unsafe event.data.u64
            let descriptor = Int32(truncatingIfNeeded: data)
            if descriptor == wakeUp {
                var count: UInt64 = 0
                _ = unsafe read(wakeUp, &count, 8)
                continue
            }
            guard watches[Int(descriptor)] == UInt32(data >> 32) else { continue }
            let mask = unsafe event.events
            handle(
                Event(
                    descriptor: descriptor,
                    isReadable: mask & (EPOLLIN.rawValue | EPOLLHUP.rawValue) != 0,
                    isWritable: mask & EPOLLOUT.rawValue != 0,
                    isBroken: mask & EPOLLERR.rawValue != 0))
        }
    }
}

extension Duration {
    /// Whole milliseconds, never fewer than asked for.
    fileprivate var roundedUpMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        guard seconds < 1_000_000 else { return 1_000_000_000 }
        return Int32(max(0, seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
    }
}
