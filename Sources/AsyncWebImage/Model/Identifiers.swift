/// Tells the downloads of a loader apart, and grows in the order in which they were made.
typealias DownloadID = UInt64

/// Tells the callers of a loader apart, and grows in the order in which they asked.
typealias CallerID = UInt64
