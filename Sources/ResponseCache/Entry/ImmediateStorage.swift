/// A storage that knows which of its entries can be read without waiting for a disk.
protocol ImmediateStorage: ResponseStorage {
    /// Returns an entry with its body, and marks it as used, if the body is short and all of it is in memory.
    ///
    /// It never waits for a disk, so that it can be called on any thread. `nil` does not mean that there is no entry.
    func immediateEntry(_ key: ResponseStorageKey) -> ImmediateEntry?

    /// Returns whether all entries are known to take at most `maximumBytes` bytes, so that none has to be removed.
    func fits(in maximumBytes: Int) -> Bool

    /// Records the uses of entries for which ``immediateEntry(_:)`` could not do so without waiting for a disk.
    func recordUses()
}

/// An entry that has been read without waiting for a disk.
struct ImmediateEntry {
    let head: ResponseStorageHead
    /// The body, not verified yet.
    let body: [UInt8]
    /// A Boolean value that indicates whether ``ImmediateStorage/recordUses()`` must be called.
    var needsRecording = false
}
