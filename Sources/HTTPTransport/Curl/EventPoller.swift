import CEpoll
import Glibc
import Synchronization

/// Waits for sockets and for a wake-up, on epoll.
///
/// If the process has no descriptor left for it, it waits for wake-ups alone, by a semaphore, until ``open()`` succeeds.
///
/// `@unchecked Sendable`: the kernel serialises what is done with descriptors and semaphore; everything else that changes
/// is touched only by the thread that waits, once it runs.
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

    private var epoll: Int32 = -1
    /// The descriptor that ``wake()`` writes to; -1 until there is one.
    private let wakeUp = Atomic<Int32>(-1)
    /// What ``wake()`` posts until then.
    private let semaphore: UnsafeMutablePointer<sem_t>
    /// The number of connections that are open.
    private(set) var connectionCount = 0
    private var watches: [Watch] = []
    private var lastNumber: UInt32 = 0
    private let buffer: UnsafeMutablePointer<epoll_event>

    /// A poller, which is open if there are descriptors for it.
    init() {
        unsafe buffer = .allocate(capacity: Self.batch)
        unsafe semaphore = .allocate(capacity: 1)
        unsafe sem_init(semaphore, 0, 0)
        open()
    }

    deinit {
        for descriptor in [epoll, wakeUp.load(ordering: .relaxed)] where descriptor >= 0 { close(descriptor) }
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
        unsafe buffer.deallocate()
    }

    /// Opens the poller if it is not open yet.
    ///
    /// Returns false if the process has no descriptors for it; sockets cannot be watched then.
    @discardableResult
    func open() -> Bool {
        if epoll >= 0 { return true }
        let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        let wakeUp = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        var event = unsafe epoll_event(
            events: EPOLLIN.rawValue, data: epoll_data(u64: UInt64(UInt32(bitPattern: wakeUp))))
        guard epoll >= 0, wakeUp >= 0, unsafe epoll_ctl(epoll, EPOLL_CTL_ADD, wakeUp, &event) == 0 else {
            for descriptor in [epoll, wakeUp] where descriptor >= 0 { close(descriptor) }
            return false
        }
        self.epoll = epoll
        self.wakeUp.store(wakeUp, ordering: .releasing)
        return true
    }

    /// Ends the wait that is under way, or the next one.
    ///
    /// From any thread.
    func wake() {
        let wakeUp = wakeUp.load(ordering: .acquiring)
        guard wakeUp >= 0 else {
            unsafe sem_post(semaphore)
            return
        }
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
        if !watches[index].isConnection { connectionCount += 1 }
        watches[index] = Watch(isConnection: true)
    }

    /// `descriptor` is about to be closed: the kernel forgets it by itself.
    func connectionClosed(_ descriptor: Int32) {
        let index = Int(descriptor)
        guard watches.indices.contains(index) else { return }
        if watches[index].isConnection { connectionCount -= 1 }
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
        guard epoll >= 0 else {
            waitForWakeUp(timeout)
            return 0
        }
        let milliseconds = timeout.map { $0.roundedUpMilliseconds } ?? -1
        return unsafe max(0, Int(epoll_wait(epoll, buffer, Int32(Self.batch), milliseconds)))
    }

    private func waitForWakeUp(_ timeout: Duration?) {
        guard let timeout else {
            unsafe sem_wait(semaphore)
            return
        }
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        let (seconds, milliseconds) = Int(timeout.roundedUpMilliseconds).quotientAndRemainder(dividingBy: 1_000)
        let nanoseconds = time.tv_nsec + milliseconds * 1_000_000
        time.tv_sec += seconds + nanoseconds / 1_000_000_000
        time.tv_nsec = nanoseconds % 1_000_000_000
        unsafe sem_timedwait(semaphore, &time)
    }

    /// Hands over the events of the last wait, except those of sockets that are watched no longer by then.
    func deliver(_ count: Int, to handle: (Event) -> Void) {
        let wakeUp = wakeUp.load(ordering: .relaxed)
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
