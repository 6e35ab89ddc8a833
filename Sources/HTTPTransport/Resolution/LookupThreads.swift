/// The numbers of threads for blocking lookups.
///
/// A system lookup takes one or two file descriptors, so all of them together take at most an eighth of what the
/// process may open.
struct LookupThreads: Equatable {
    /// The number of threads before any lookup has succeeded.
    let initial: Int
    /// The maximum number of threads.
    let maximum: Int

    /// Creates the numbers for a process that may open `openFileLimit` files: 8 and 64 for 1,024 or more, and at
    /// least one.
    init(openFileLimit: Int) {
        maximum = min(64, max(1, openFileLimit / 16))
        initial = min(8, max(1, maximum / 2))
    }
}
