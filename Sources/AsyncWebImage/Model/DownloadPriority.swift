/// How soon a download gets its turn.
///
/// Those of one priority run in the order of the configuration, FIFO or LIFO. Half of the slots, of all and of each
/// host, are out of reach of ``low`` and ``veryLow``, so that they never hold up what comes later; one that is the only
/// one is not.
public enum DownloadPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// When there is nothing else to do.
    case veryLow
    /// After what somebody waits for, such as prefetching.
    case low
    /// Most.
    case normal
    /// Before most, such as what is on screen.
    case high
    /// Before all others.
    case veryHigh

    /// The highest first.
    static let descending: [DownloadPriority] = allCases.reversed()

    /// A Boolean value that indicates whether a part of the slots is out of its reach.
    var isLow: Bool { self <= .low }

    /// Lower priorities come first.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
