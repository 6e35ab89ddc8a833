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

    /// What is known of one descriptor.
    private struct Watch {
        /// Tells a socket from an earlier one with the same descriptor, whose event may still be in the batch.
        var number: UInt32 = 0
        /// What the kernel watches it for; 0 if it does not.
        var registered: UInt32 = 0
        /// Whether somebody wants to hear of it.
        var isWanted = false
        /// Whether its opening and closing are announced, so that the kernel may go on watching it unwanted.
        var isConnection = false
    }

    private static let batch = 256

    private let epoll: Int32
    private let wakeUp: Int32
    private var watches: [Watch] = []
    private var lastNumber: UInt32 = 0
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
        while watches.count <= index { watches.append(Watch()) }
        let mask = (readable ? EPOLLIN.rawValue : 0) | (writable ? EPOLLOUT.rawValue : 0)
        watches[index].isWanted = true
        guard watches[index].registered != mask else { return }
        let isNew = watches[index].registered == 0
        if isNew {
            lastNumber &+= 1
            watches[index].number = lastNumber
        }
        watches[index].registered = mask
        let data = unsafe epoll_data(u64: UInt64(watches[index].number) << 32 | UInt64(index))
        var event = unsafe epoll_event(events: mask, data: data)
        let (first, second) = isNew ? (EPOLL_CTL_ADD, EPOLL_CTL_MOD) : (EPOLL_CTL_MOD, EPOLL_CTL_ADD)
        // The kernel forgets a descriptor that is closed, whatever we think of it.
        if unsafe epoll_ctl(epoll, first, descriptor, &event) != 0 {
            unsafe epoll_ctl(epoll, second, descriptor, &event)
        }
    }

    /// Watches `descriptor` no longer.
    ///
    /// A connection stays with the kernel until something happens on it: mostly it is wanted again before, and two
    /// system calls a request are saved.
    func forget(_ descriptor: Int32) {
        let index = Int(descriptor)
        guard watches.indices.contains(index) else { return }
        watches[index].isWanted = false
        if !watches[index].isConnection, watches[index].registered != 0 { unregister(descriptor) }
    }

    /// `descriptor` is a connection from now on; ``connectionClosed(_:)`` follows.
    func connectionOpened(_ descriptor: Int32) {
        let index = Int(descriptor)
        guard index >= 0 else { return }
        while watches.count <= index { watches.append(Watch()) }
        watches[index] = Watch(isConnection: true)
    }

    /// `descriptor` is about to be closed: the kernel forgets it by itself.
    func connectionClosed(_ descriptor: Int32) {
        let index = Int(descriptor)
        guard watches.indices.contains(index) else { return }
        watches[index] = Watch()
    }

    private func unregister(_ descriptor: Int32) {
        watches[Int(descriptor)].registered = 0
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
            let watch = watches[Int(descriptor)]
            guard watch.number == UInt32(data >> 32) else { continue }
            guard watch.isWanted else {
                unregister(descriptor)
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
