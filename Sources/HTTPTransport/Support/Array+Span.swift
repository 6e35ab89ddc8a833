extension Array<UInt8> {
    /// Appends a copy of `bytes`.
    package mutating func append(copying bytes: Span<UInt8>) {
        // The standard library has no bulk copy from a span yet, and copying single bytes takes ten times as long.
        unsafe bytes.withUnsafeBufferPointer { buffer in unsafe append(contentsOf: buffer) }
    }
}
