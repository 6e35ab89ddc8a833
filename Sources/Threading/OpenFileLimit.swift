import Glibc

/// The limit on the file descriptors of this process: files, connections, and the timers of the runtime.
package enum OpenFileLimit {
    /// The effective (soft) limit.
    package static var current: Int { limits.soft }

    /// Raises the limit to `count`, or to the maximum that the system allows; never lowers it.
    package static func raise(to count: Int) {
        let (soft, hard) = limits
        let wanted = min(count, hard)
        guard soft < wanted else { return }
        set(wanted)
    }

    /// Sets the limit, which can be below the number of open descriptors.
    package static func set(_ count: Int) {
        var limit = rlimit()
        unsafe getrlimit(resource, &limit)
        limit.rlim_cur = rlim_t(count)
        unsafe setrlimit(resource, &limit)
    }

    /// Returns how many more descriptors below `most` can be opened.
    package static func free(below most: Int = .max) -> Int {
        let end = max(0, min(most, current))
        // One system call for many descriptors.
        let batch = 4_096
        return stride(from: 0, to: end, by: batch).reduce(0) { count, start in
            var entries = (start..<min(start + batch, end)).map { pollfd(fd: Int32($0), events: 0, revents: 0) }
            guard unsafe poll(&entries, nfds_t(entries.count), 0) >= 0 else {
                return count + entries.count { fcntl($0.fd, F_GETFD) < 0 }
            }
            return count + entries.count { $0.revents & Int16(POLLNVAL) != 0 }
        }
    }

    /// A Boolean value that indicates whether the process or the system currently has no descriptor left.
    package static var isReached: Bool {
        let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        if descriptor >= 0 { close(descriptor) }
        return descriptor < 0 && isShortage(errno)
    }

    /// Returns whether `code` is the `errno` for a process or system without free descriptors.
    package static func isShortage(_ code: Int32) -> Bool { code == EMFILE || code == ENFILE }

    private static var limits: (soft: Int, hard: Int) {
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0 else { return (256, 256) }
        return (Int(clamping: limit.rlim_cur), Int(clamping: limit.rlim_max))
    }

    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
}
