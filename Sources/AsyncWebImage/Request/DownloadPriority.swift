/// The priority of a download.
///
/// Downloads with the same priority run in the configured order, FIFO or LIFO. Half of the slots (rounded down), in
/// total and per host, are not available to ``low`` and ``veryLow``, so that these priorities do not delay other
/// requests.
public enum DownloadPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// For downloads that can wait until no others are pending.
    case veryLow
    /// For downloads that no caller waits for, such as prefetching.
    case low
    /// The default priority.
    case normal
    /// For images on screen.
    case high
    /// For downloads that start before all others.
    case veryHigh

    /// All priorities, the highest first.
    static let descending: [DownloadPriority] = allCases.reversed()

    /// A Boolean value that indicates whether only a part of the slots is available.
    var isLow: Bool { self <= .low }

    /// Returns whether the left priority is lower.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
