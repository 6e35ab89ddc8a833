import CLinux

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Returns the number of processors that the calling thread may run on, at least 1.
///
/// Under `taskset`, in a container with a CPU set, or in a batch job, this is less than the number of processors of
/// the machine.
package func availableProcessorCount() -> Int {
    #if os(Linux)
    let affinity = Int(clinux_affinity())
    if affinity > 0 { return affinity }
    #endif
    return max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
}
