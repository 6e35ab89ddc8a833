import Glibc

/// The peak memory of this process.
enum PeakMemory {
    /// Returns the number of bytes, or `nil` if the system does not report it.
    ///
    /// The value of `getrusage` is unsuitable, because a process inherits it from its parent.
    static func bytes() -> Int? { status("VmHWM:") }

    /// Forgets the peak so far, and returns the number of bytes that are in use; `nil` if the system does not allow it.
    static func restart() -> Int? {
        let file = unsafe open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return unsafe write(file, "5", 1) == 1 ? status("VmRSS:") : nil
    }

    private static func status(_ name: String) -> Int? {
        guard let status = try? File.read("/proc/self/status") else { return nil }
        let lines = String(decoding: status, as: UTF8.self).split(separator: "\n")
        let kilobytes = lines.first { $0.hasPrefix(name) }?.split { !$0.isNumber }.first
        return kilobytes.flatMap { Int($0) }.map { $0 * 1_024 }
    }
}
