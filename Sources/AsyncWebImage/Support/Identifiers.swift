/// The identifier of a download within a loader, ascending in order of creation.
typealias DownloadID = UInt64

/// The identifier of a caller within a loader, ascending in order of the requests.
typealias CallerID = UInt64
