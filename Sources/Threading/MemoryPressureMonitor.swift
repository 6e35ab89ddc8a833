import CLinux

import Glibc

/// Calls a handler when processes have to wait for memory, according to the pressure stall information of Linux.
///
/// The handler is called on the monitor's own thread, at most once in two seconds.
package final class MemoryPressureMonitor: Sendable {
    private let end: EndSignal

    /// Creates a monitor; returns `nil` if the system does not report memory pressure.
    ///
    /// The control group of the process is observed, or else the machine.
    package convenience init?(_ handler: @escaping @Sendable () -> Void) {
        guard let pressure = Self.openPressureFile() else { return nil }
        self.init(descriptor: pressure, handler)
    }

    /// Creates a monitor of a descriptor with urgent data as the event; the descriptor belongs to the monitor.
    package init?(descriptor: Int32, _ handler: @escaping @Sendable () -> Void) {
        guard let end = EndSignal() else {
            close(descriptor)
            return nil
        }
        self.end = end
        do {
            try startThread(named: "webimage-memory") {
                Self.observe(descriptor, until: end, handler)
                close(descriptor)
            }
        } catch {
            close(descriptor)
            return nil
        }
    }

    deinit { end.send() }

    private static func observe(_ descriptor: Int32, until end: EndSignal, _ handler: () -> Void) {
        while true {
            var events = [
                pollfd(fd: descriptor, events: Int16(POLLPRI), revents: 0),
                pollfd(fd: end.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            let count = unsafe poll(&events, 2, -1)
            if count < 0, errno == EINTR { continue }
            // The control group has been removed, or this is over.
            guard count > 0, events[1].revents == 0, events[0].revents & Int16(POLLERR | POLLNVAL | POLLHUP) == 0 else {
                return
            }
            handler()
        }
    }

    /// Opens the pressure file with a trigger: some process waited for 200 ms of 2 s.
    ///
    /// A window of a multiple of two seconds needs no privileges.
    private static func openPressureFile() -> Int32? {
        for path in [controlGroupFile, "/proc/pressure/memory"].compactMap(\.self) {
            let descriptor = unsafe open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            var trigger = Array("some 200000 2000000".utf8) + [0]
            if unsafe write(descriptor, &trigger, trigger.count) == trigger.count { return descriptor }
            close(descriptor)
        }
        return nil
    }

    /// The pressure file of the process's control group (version 2), which is the last line of `/proc/self/cgroup`.
    private static var controlGroupFile: String? {
        let lines = contents(ofSmallFile: "/proc/self/cgroup").split(separator: "\n")
        let line = lines.last { $0.hasPrefix("0::") }
        return line.map { "/sys/fs/cgroup\($0.dropFirst(3))/memory.pressure" }
    }
}

/// The end of a monitor, of which its thread is notified.
///
/// The monitor and its thread share it, because either can end first: the descriptor must stay open as long as one of
/// them could use its number.
private final class EndSignal: Sendable {
    /// The descriptor that is readable once the signal has been sent.
    let descriptor: Int32

    init?() {
        let descriptor = eventfd(0, Int32(EFD_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    func send() { eventfd_write(descriptor, 1) }
}
