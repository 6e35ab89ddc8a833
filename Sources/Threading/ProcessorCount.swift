import CLinux

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Returns the number of processors that the calling thread may use, at least 1.
///
/// Under `taskset`, in a container with a CPU set or a quota, or in a batch job, this is less than the number of
/// processors of the machine.
package func availableProcessorCount() -> Int {
    let online = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    #if os(Linux)
    let affinity = Int(clinux_affinity())
    let count = affinity > 0 ? affinity : online
    return processorQuota.map { min(count, $0) } ?? count
    #else
    return online
    #endif
}

/// Returns the number of processors of a quota in the format of `cpu.max`, such as `150000 100000`, rounded up; `nil`
/// if there is no limit.
package func processorCount(ofQuota text: String) -> Int? {
    let numbers = text.split { $0 == " " || $0 == "\n" }.map { Int($0) }
    guard numbers.count == 2, let quota = numbers[0], let period = numbers[1], quota > 0, period > 0 else { return nil }
    return max(1, quota / period + (quota % period > 0 ? 1 : 0))
}

#if os(Linux)
/// The lowest quota of the control groups of this process, which does not change in most containers; `nil` if there is
/// none.
private let processorQuota: Int? = {
    var quotas = [processorCount(ofQuota: contents("/sys/fs/cgroup/cpu.max"))]
    // Version 1 has a file for each number.
    let files = ["cfs_quota_us", "cfs_period_us"].map { contents("/sys/fs/cgroup/cpu/cpu.\($0)") }
    quotas.append(processorCount(ofQuota: files.joined(separator: " ")))
    // Outside of a container, the group has a path.
    for line in contents("/proc/self/cgroup").split(separator: "\n") where line.hasPrefix("0::/") {
        var path = line.dropFirst(3)
        while path.count > 1 {
            quotas.append(processorCount(ofQuota: contents("/sys/fs/cgroup\(path)/cpu.max")))
            path = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        }
    }
    return quotas.compactMap(\.self).min()
}()

/// Returns the beginning of a small file; empty if it cannot be read.
private func contents(_ path: String) -> String {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
}
#endif
