/// How soon a download gets its turn.
///
/// Those of one priority run in the order of the configuration, FIFO or LIFO.
public enum DownloadPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// After all others, such as prefetching.
    case low
    /// Most.
    case normal
    /// Before all others, such as what is on screen.
    case high

    /// The highest first.
    static let descending: [DownloadPriority] = [.high, .normal, .low]

    /// Lower priorities come first.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
