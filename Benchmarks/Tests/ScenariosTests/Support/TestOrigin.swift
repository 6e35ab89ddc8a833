import LoopbackOrigin

@testable import Scenarios

/// Runs `body` while this process serves files of these sizes, as the benchmarks' origin does.
func withOrigin<Result>(
    bodies sizes: [Int], _ body: (Origin, LoopbackOrigin) async throws -> Result
) async throws -> Result {
    try await withTemporaryFolder { path in
        let fixtures = try FixtureFolder(path: path)
        for bytes in sizes { _ = try fixtures.body(bytes: bytes) }
        return try await withLoopbackOrigin { loopback in
            try OriginCommand.serve(path, on: loopback)
            return try await body(Origin(port: UInt16(loopback.port)), loopback)
        }
    }
}
