extension FixtureFolder {
    /// The name of the file of that many bytes.
    static func bodyName(bytes: Int) -> String { "body-\(bytes)" }

    /// The path of a file of that many bytes that no compression makes smaller.
    func body(bytes: Int) throws -> String {
        try file(Self.bodyName(bytes: bytes)) {
            var generator = SplitMix64(seed: UInt64(bytes))
            return (0..<bytes).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        }
    }
}
