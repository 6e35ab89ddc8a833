/// The numbers of threads for blocking lookups.
///
/// A system lookup takes one or two file descriptors, so all of them together take at most an eighth of what the
/// process may open.
struct LookupThreads: Equatable {
    /// The number of threads before any lookup has succeeded.
    let initial: Int
    /// The maximum number of threads.
    let maximum: Int

    /// The default maximum.
    static let usualMaximum = 64

    /// Creates the numbers for a process that may open `openFileLimit` files: by default 8 and 64 if the limit is 1,024
    /// or more, and always at least one.
    init(openFileLimit: Int, maximum limit: Int = usualMaximum) {
        maximum = max(1, min(limit, openFileLimit / 16))
        initial = min(8, max(1, maximum / 2))
    }
}
