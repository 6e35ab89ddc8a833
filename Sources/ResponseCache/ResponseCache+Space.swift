import Threading

// Making room for new entries; on the cache's threads.
extension ResponseCache {
    /// Runs `write`, which needs `count` bytes; if the storage is full, removes other entries and runs it again.
    ///
    /// Removes no more than the entry that is written may cost the others, and nothing if that is too little.
    func writing<Result>(_ count: Int, _ room: inout EntryRoom, _ write: () throws -> Result) throws -> Result {
        var attempts = 0
        while true {
            do {
                return try write()
            } catch {
                attempts += 1
                guard error.forStorage == .full, attempts <= 3 else {
                    note(error)
                    throw error
                }
                let size = storage.byteCount
                // Directories and other processes need some space as well.
                let excess = room.take(max(4 * count, 64 << 10) << attempts, for: count, of: size)
                guard excess > 0 else {
                    note(error)
                    throw error
                }
                trimStorage(to: max(0, size - excess))
            }
        }
    }

    /// Removes the least recently used entries until the others take at most `maximumBytes` bytes.
    func trimStorage(to maximumBytes: Int) {
        uses.record(.eviction, count: (try? storage.trim(to: maximumBytes)) ?? 0)
    }

    /// Removes the least recently used entries if the limit is exceeded, which is checked for the first new entry, and
    /// then each time 1/256 of the limit has been added.
    ///
    /// The thread that has stored an entry removes others, so that none is stored faster than room is made.
    func enforceLimit(after size: Int) {
        let isDue = limitCheck.withLock { remainingBytes in
            remainingBytes -= size
            guard remainingBytes < 0 else { return false }
            remainingBytes = configuration.maximumBytes / 256
            return true
        }
        if isDue { enforceLimit() }
    }

    /// Removes the least recently used entries if the limit is exceeded.
    func enforceLimit() { trimStorage(to: configuration.maximumBytes) }

    /// Records and reports why responses cannot be stored, unless that is only for the moment.
    func note(_ failure: any Error) {
        if failure.forStorage == .unavailable { return }
        let report = storageFailure.withLock { state -> (@Sendable (any Error) -> Void)? in
            guard state.failure == nil else { return nil }
            state.failure = failure
            state.isReported = state.report != nil
            return state.report
        }
        report?(failure)
    }
}

/// The first error that prevented storing a response, and the closure that reports it.
struct StorageFailure: Sendable {
    var failure: (any Error)?
    var report: (@Sendable (any Error) -> Void)?
    var isReported = false
}
