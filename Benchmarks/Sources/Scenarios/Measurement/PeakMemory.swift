/// The peak memory of this process.
enum PeakMemory {
    /// Returns the number of bytes, or `nil` if the system does not report it.
    ///
    /// The value of `getrusage` is unsuitable, because a process inherits it from its parent.
    static func bytes() -> Int? {
        guard let status = try? File.read("/proc/self/status") else { return nil }
        let lines = String(decoding: status, as: UTF8.self).split(separator: "\n")
        let kilobytes = lines.first { $0.hasPrefix("VmHWM:") }?.split { !$0.isNumber }.first
        return kilobytes.flatMap { Int($0) }.map { $0 * 1_024 }
    }
}
