/// The maximum number of connections that are open at a time, idle ones included.
///
/// It falls when the process runs out of file descriptors, so that a new connection takes the place of an idle one, and
/// rises by one with every transfer that succeeds.
struct ConnectionLimit: Equatable {
    /// What it rises to again.
    let most: Int
    private(set) var current: Int

    /// `configured` connections, or half of what the process may open; at least one.
    init(_ configured: Int? = nil, openFileLimit: Int) {
        most = max(1, min(configured ?? openFileLimit / 2, openFileLimit, 1_000_000))
        current = most
    }

    /// Notes that there was no descriptor for a connection while `open` others were open.
    ///
    /// Returns whether another try may succeed, in place of one of these.
    mutating func ranOut(whileOpen open: Int) -> Bool {
        guard open > 0 else { return false }
        current = min(current, open)
        return true
    }

    /// Notes that a transfer succeeded.
    ///
    /// Returns whether the limit has changed.
    mutating func succeeded() -> Bool {
        guard current < most else { return false }
        current += 1
        return true
    }
}
