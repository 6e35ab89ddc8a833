/// A writer of a storage that can keep what has been written even if the process is killed.
protocol CheckpointingWriter: ResponseStorageWriter {
    /// Records that everything appended so far is the beginning of a body that can be continued.
    ///
    /// `head` has the length and the checksum of that beginning. If the process ends before the writer does, the
    /// beginning is stored when the storage is opened again.
    mutating func checkpoint(_ head: ResponseStorageHead) throws
}
