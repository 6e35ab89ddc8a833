/// Puts together the ICC profile of a JPEG, which is spread over `APP2` segments (ICC.1:2022, B.4).
struct JPEGProfileParts {
    private var parts: [Int: [UInt8]] = [:]
    private var declaredCount: Int?
    private var byteCount = 0
    private var isBroken = false

    /// Takes a segment that begins with `ICC_PROFILE` and a zero.
    mutating func add(_ segment: Span<UInt8>) {
        guard let number = segment.byte(at: 12), let count = segment.byte(at: 13) else {
            isBroken = true
            return
        }
        byteCount += segment.count - 14
        declaredCount = declaredCount ?? count
        // One too large is not held, either.
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

    /// The profile, or that it cannot be used; nothing if there is none.
    var sources: [ColorSource] {
        guard let declaredCount else { return isBroken ? [.unusable] : [] }
        guard !isBroken, parts.count == declaredCount else { return [.unusable] }
        return [.profile((1...declaredCount).flatMap { parts[$0] ?? [] })]
    }
}
