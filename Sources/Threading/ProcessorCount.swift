import CLinux

import Glibc

/// Returns the number of processors that the calling thread may use, at least 1.
///
/// Under `taskset`, in a container with a CPU set or a quota, or in a batch job, this is less than the number of
/// processors of the machine.
package func availableProcessorCount() -> Int {
    let online = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    let affinity = Int(clinux_affinity())
    let count = affinity > 0 ? affinity : online
    return quota.map { min(count, $0) } ?? count
}

/// Returns the number of processors of a quota in the format of `cpu.max`, such as `150000 100000`, rounded up; `nil`
/// if there is no limit.
package func processorCount(ofQuota text: String) -> Int? {
    let numbers = text.split { $0 == " " || $0 == "\n" }.map { Int($0) }
    guard numbers.count == 2, let quota = numbers[0], let period = numbers[1], quota > 0, period > 0 else { return nil }
    return max(1, quota / period + (quota % period > 0 ? 1 : 0))
}

/// The lowest quota of the control groups of this process, which does not change in most containers.
private let quota = ControlGroups().processorQuota
