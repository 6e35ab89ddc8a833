package import SocketPolling

#if os(Linux)
// A stand-in for kqueue: on Linux, only the tests use this module.
import CKqueue
import Glibc
#elseif canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A poller that uses kqueue, with a user event for wake-ups.
///
/// `@unchecked Sendable`: the kernel serializes operations on the queue; only the waiting thread uses the buffers.
@safe
package final class KqueuePoller: SystemPoller, @unchecked Sendable {
    private static let batch = 256
    private static let filters: [(WatchTable.Interest, Int32)] = [
        (.readable, EVFILT_READ), (.writable, EVFILT_WRITE),
    ]

    private let queue: Int32
    private let buffer: UnsafeMutablePointer<kevent>
    /// Room for one change per filter.
    private let changes: UnsafeMutablePointer<kevent>

    package init?() {
        queue = kqueue()
        guard queue >= 0 else { return nil }
        _ = fcntl(queue, F_SETFD, FD_CLOEXEC)
        unsafe buffer = .allocate(capacity: Self.batch)
        unsafe changes = .allocate(capacity: Self.filters.count)
        // The kernel resets it after it has been reported.
        guard sendUserEvent(flags: EV_ADD | EV_CLEAR) else { return nil }
    }

    deinit {
        close(queue)
        unsafe buffer.deallocate()
        unsafe changes.deallocate()
    }

    package func apply(_ change: WatchTable.Change) {
        var count = 0
        for (interest, filter) in Self.filters {
            let flags: Int32
            if change.new.contains(interest) {
                // Add it even if it is watched already: the kernel forgets closed descriptors, even if the table
                // still lists them.
                flags = EV_ADD
            } else if change.old.contains(interest) {
                flags = EV_DELETE
            } else {
                continue
            }
            var event = unsafe kevent()
            unsafe event.ident = UInt(change.descriptor)
            unsafe event.filter = Int16(filter)
            // With receipts, the second change takes effect even if the first one fails.
            unsafe event.flags = UInt16(flags | EV_RECEIPT)
            unsafe event.udata = UnsafeMutableRawPointer(bitPattern: UInt(change.number))
            unsafe changes[count] = event
            count += 1
        }
        guard count > 0 else { return }
        _ = unsafe kevent(queue, changes, Int32(count), changes, Int32(count), nil)
    }

    package func wake() {
        _ = sendUserEvent(fflags: NOTE_TRIGGER)
    }

    package func wait(timeout: Duration?) -> Int {
        guard let timeout else {
            return unsafe max(0, Int(kevent(queue, nil, 0, buffer, Int32(Self.batch), nil)))
        }
        var time = timespec(timeout)
        return unsafe max(0, Int(kevent(queue, nil, 0, buffer, Int32(Self.batch), &time)))
    }

    package func event(at index: Int) -> SocketEvent? {
        let event = unsafe buffer[index]
        let (filter, flags) = unsafe (Int32(event.filter), Int32(event.flags))
        guard filter != EVFILT_USER else { return nil }
        return unsafe SocketEvent(
            descriptor: Int32(truncatingIfNeeded: event.ident),
            number: UInt32(truncatingIfNeeded: UInt(bitPattern: event.udata)),
            isReadable: filter == EVFILT_READ,
            isWritable: filter == EVFILT_WRITE,
            // At the end of the stream, the filter's flags contain the error of the socket.
            isBroken: flags & EV_EOF != 0 && event.fflags != 0)
    }

    private func sendUserEvent(flags: Int32 = 0, fflags: Int32 = 0) -> Bool {
        var event = unsafe kevent()
        unsafe event.filter = Int16(EVFILT_USER)
        unsafe event.flags = UInt16(flags)
        unsafe event.fflags = UInt32(fflags)
        return unsafe kevent(queue, &event, 1, nil, 0, nil) == 0
    }
}
