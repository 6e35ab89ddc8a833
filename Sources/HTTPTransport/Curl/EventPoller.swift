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
    private var watched: Set<Int32> = []
    private let buffer: UnsafeMutablePointer<epoll_event>

    /// Traps if the system has no descriptor left for it: nothing could be transferred then.
    init() {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        wakeUp = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        unsafe buffer = .allocate(capacity: Self.batch)
        precondition(epoll >= 0 && wakeUp >= 0, "no file descriptor for epoll: errno \(errno)")
        var event = unsafe epoll_event(events: EPOLLIN.rawValue, data: epoll_data(fd: wakeUp))
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

    /// Watches `descriptor` from now on.
    func watch(_ descriptor: Int32, readable: Bool, writable: Bool) {
        let mask = (readable ? EPOLLIN.rawValue : 0) | (writable ? EPOLLOUT.rawValue : 0)
        var event = unsafe epoll_event(events: mask, data: epoll_data(fd: descriptor))
        if watched.insert(descriptor).inserted {
            if unsafe epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) != 0, errno == EEXIST {
                unsafe epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event)
            }
        } else if unsafe epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event) != 0, errno == ENOENT {
            // Closed and opened again under the same number: the kernel forgot it.
            unsafe epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event)
        }
    }

    /// Watches `descriptor` no longer.
    func forget(_ descriptor: Int32) {
        guard watched.remove(descriptor) != nil else { return }
        var event = unsafe epoll_event()
        unsafe epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &event)
    }

    /// Waits until something happens, ``wake()`` is called, or `timeout` has passed; nil waits without end.
    func wait(timeout: Duration?, _ handle: (Event) -> Void) {
        let milliseconds = timeout.map { $0.roundedUpMilliseconds } ?? -1
        let count = unsafe epoll_wait(epoll, buffer, Int32(Self.batch), milliseconds)
        guard count > 0 else { return }
        for index in 0..<Int(count) {
            let event = unsafe buffer[index]
            let descriptor = unsafe event.data.fd
            if descriptor == wakeUp {
                var count: UInt64 = 0
                _ = unsafe read(wakeUp, &count, 8)
                continue
            }
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
