extension FixtureFolder {
    /// Returns the name of the file with this number of bytes.
    static func bodyName(bytes: Int) -> String { "body-\(bytes)" }

    /// Returns the path of a file with this number of random bytes, which no compression makes smaller.
    func body(bytes: Int) throws -> String {
        try file(Self.bodyName(bytes: bytes)) {
            var generator = SplitMix64(seed: UInt64(bytes))
            return (0..<bytes).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        }
    }
}
