import Glibc

/// Returns the memory that this process may use, in bytes: that of the machine, or less in a container or another
/// control group with a limit; negative if it is unknown.
package func availableMemory() -> Int {
    let physical = Int(sysconf(Int32(_SC_PHYS_PAGES))) * Int(sysconf(Int32(_SC_PAGESIZE)))
    guard let limit = ControlGroups().memoryLimit else { return physical }
    return physical > 0 ? min(limit, physical) : limit
}
