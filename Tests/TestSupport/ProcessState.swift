import Foundation

/// The resources of the system that this process holds.
package enum ProcessState {
    /// The targets of the open file descriptors.
    ///
    /// Timers are left out: the runtime makes one for each of its clocks when it first needs it, and keeps it.
    package static var openFiles: [String] {
        let directory = "/proc/self/fd/"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        let files = names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: directory + $0) }
        return files.filter { $0 != "anon_inode:[timerfd]" }.sorted()
    }

    /// The threads whose name begins with `prefix`.
    package static func threads(named prefix: String) -> [String] {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.map { beginning(of: "/proc/self/task/\($0)/comm") }.filter { $0.hasPrefix(prefix) }
    }

    /// The name of the current thread.
    package static var threadName: String {
        String(beginning(of: "/proc/thread-self/comm").prefix { $0 != "\n" })
    }

    /// The resident memory in bytes, after free memory has been returned to the system as far as possible.
    package static var residentBytes: Int {
        typealias Trim = @convention(c) (Int) -> Int32
        if let symbol = unsafe dlsym(nil, "malloc_trim") { _ = unsafe unsafeBitCast(symbol, to: Trim.self)(0) }
        return residentBytes(of: getpid())
    }

    /// Returns the resident memory of a process, in bytes; 0 if it has ended.
    package static func residentBytes(of process: Int32) -> Int {
        let fields = beginning(of: "/proc/\(process)/statm").split(separator: " ")
        return (fields.dropFirst().first.flatMap { Int($0) } ?? 0) * sysconf(Int32(_SC_PAGESIZE))
    }

    /// The beginning of a small file; empty if it is gone.
    ///
    /// Foundation leaks its buffer when a thread ends between the opening and the reading.
    private static func beginning(of path: String) -> String {
        let file = unsafe open(path, O_RDONLY)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// Raises the limit of open descriptors as far as the system allows, and returns it.
    @discardableResult
    package static func raiseDescriptorLimit() -> Int {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_max)
    }

    /// Returns whether `condition` becomes true within 20 seconds.
    package static func reaches(_ condition: () async throws -> Bool) async rethrows -> Bool {
        let deadline = ContinuousClock.now + .seconds(20)
        while try await !condition() {
            guard ContinuousClock.now < deadline else { return false }
            await Task.yield()
        }
        return true
    }
}
