/// Makes ICC profiles.
package enum TestProfile {
    /// Bytes accepted as a profile: a header with the color space, and no tags.
    package static func bytes(_ colors: String, count: Int = 300, seed: UInt64 = 9) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        var bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        bytes.replaceSubrange(16..<20, with: Array(colors.utf8))
        bytes.replaceSubrange(128..<132, with: [0, 0, 0, 0])
        return bytes
    }
}
