/// The maximum number of connections that are open at a time, idle ones included.
///
/// The limit is lowered when the process runs out of file descriptors, so that a new connection replaces an idle one,
/// and raised by one with every successful transfer.
struct ConnectionLimit: Equatable {
    /// The configured maximum.
    let maximum: Int
    private(set) var current: Int

    /// Creates a limit of `configured` connections, or half of the files that the process may open; at least one.
    init(_ configured: Int? = nil, openFileLimit: Int) {
        maximum = max(1, min(configured ?? openFileLimit / 2, openFileLimit, 1_000_000))
        current = maximum
    }

    /// Records that there was no file descriptor for a connection while `open` others were open.
    ///
    /// Returns whether a retry can succeed by replacing one of these.
    mutating func ranOut(whileOpen open: Int) -> Bool {
        guard open > 0 else { return false }
        current = min(current, open)
        return true
    }

    /// Records a successful transfer.
    ///
    /// Returns whether the limit has changed.
    mutating func succeeded() -> Bool {
        guard current < maximum else { return false }
        current += 1
        return true
    }
}
