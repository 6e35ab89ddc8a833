/// Assembles the ICC profile of a JPEG, which can be spread over several `APP2` segments (ICC.1:2022, B.4).
struct JPEGProfileParts {
    private var parts: [Int: [UInt8]] = [:]
    private var declaredCount: Int?
    private var byteCount = 0
    private var isBroken = false

    /// Adds a segment that begins with `ICC_PROFILE` and a zero byte.
    mutating func add(_ segment: Span<UInt8>) {
        guard let number = segment.byte(at: 12), let count = segment.byte(at: 13) else {
            isBroken = true
            return
        }
        byteCount += segment.count - 14
        declaredCount = declaredCount ?? count
        // An oversized profile is not held.
        guard (1...max(count, 1)).contains(number), count == declaredCount, parts[number] == nil,
            byteCount <= ColorSource.maximumProfileBytes
        else {
            isBroken = true
            parts = [:]
            return
        }
        guard !isBroken else { return }
        parts[number] = Array(copying: segment.extracting(14...))
    }

    /// The profile, a marker that it cannot be used, or nothing if there is none.
    var sources: [ColorSource] {
        guard let declaredCount else { return isBroken ? [.unusable] : [] }
        guard !isBroken, parts.count == declaredCount else { return [.unusable] }
        return [.profile((1...declaredCount).flatMap { parts[$0] ?? [] })]
    }
}
