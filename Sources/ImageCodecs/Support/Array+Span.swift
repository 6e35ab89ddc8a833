extension [UInt8] {
    /// A copy of `bytes`.
    package init(copying bytes: Span<UInt8>) {
        self = []
        append(bytes)
    }

    /// Appends a copy of `bytes` in one go.
    package mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Writes `bytes` over those from `offset` on, which must be there.
    package mutating func replace(at offset: Int, with bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe replaceSubrange(offset..<offset + $0.count, with: $0) }
    }
}
