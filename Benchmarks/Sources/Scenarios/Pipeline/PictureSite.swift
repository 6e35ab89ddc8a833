/// An origin that serves JPEGs of 1600 x 1200 pixels, and a folder for the work of a case.
struct PictureSite: Codable, Sendable {
    /// The number of different files, which is small so that the origin can serve them from memory.
    private static let pictures = 24

    let origin: Origin
    /// The names of the pictures on the origin.
    let names: [String]
    /// The paths of the same pictures on this machine.
    let paths: [String]
    let scratch: String

    /// Runs `body` while the origin serves the pictures.
    static func with<Result: Sendable>(
        _ scenario: String, fixtures: FixtureFolder, _ body: (PictureSite) async throws -> Result
    ) async throws -> Result {
        let files = try (1...pictures).map { try fixtures.jpeg(width: 1_600, height: 1_200, number: $0) }
        return try await TemporaryFolder.with(scenario) { scratch in
            try await Origin.serving(fixtures) {
                try await body(
                    PictureSite(origin: $0, names: files.map(\.name), paths: files.map(\.path), scratch: scratch))
            }
        }
    }

    /// Returns `count` different URLs of pictures.
    func urls(_ count: Int) -> [String] {
        (0..<count).map { origin.url("\(names[$0 % names.count])?n=\($0)") }
    }

    /// Returns the paths of `count` pictures, which repeat.
    func paths(_ count: Int) -> [String] {
        (0..<count).map { paths[$0 % paths.count] }
    }
}
