import LoopbackOrigin

@testable import Scenarios

/// Runs `body` while this process serves files of these sizes, as the benchmarks' origin does.
func withOrigin<Result>(
    bodies sizes: [Int], _ body: (Origin, LoopbackOrigin) async throws -> Result
) async throws -> Result {
    try await withTemporaryFolder { path in
        let fixtures = try FixtureFolder(path: path)
        for bytes in sizes { _ = try fixtures.body(bytes: bytes) }
        return try await withOrigin(serving: fixtures, body)
    }
}

/// Runs `body` while this process serves the files of a folder, as the benchmarks' origin does.
func withOrigin<Result>(
    serving fixtures: FixtureFolder, _ body: (Origin, LoopbackOrigin) async throws -> Result
) async throws -> Result {
    try await withLoopbackOrigin { loopback in
        try OriginCommand.serve(fixtures.path, on: loopback)
        return try await body(Origin(port: UInt16(loopback.port)), loopback)
    }
}
