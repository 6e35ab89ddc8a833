extension [UInt8] {
    /// Creates a copy of `bytes`.
    package init(copying bytes: Span<UInt8>) {
        self = []
        append(bytes)
    }

    /// Appends a copy of `bytes` in one operation.
    package mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Overwrites the bytes from `offset`, which must exist, with `bytes`.
    package mutating func replace(at offset: Int, with bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe replaceSubrange(offset..<offset + $0.count, with: $0) }
    }
}
