extension [UInt8] {
    /// Creates an array of bytes that has no unused capacity and shares no storage with theirs.
    init(exactCopyOf bytes: some Collection<UInt8>) {
        self = []
        reserveCapacity(bytes.count)
        self += bytes
    }
}
