/// An origin and the files it serves.
struct OriginSite: Codable, Sendable {
    let origin: Origin
    let fixtures: FixtureFolder

    /// Runs `body` while an origin serves files of these sizes.
    static func serving<Result: Sendable>(
        bodies sizes: [Int], of fixtures: FixtureFolder, _ body: (OriginSite) async throws -> Result
    ) async throws -> Result {
        for bytes in Set(sizes) { _ = try fixtures.body(bytes: bytes) }
        return try await Origin.serving(fixtures) { try await body(OriginSite(origin: $0, fixtures: fixtures)) }
    }
}
