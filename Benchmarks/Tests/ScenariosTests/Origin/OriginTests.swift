import Testing

@testable import Scenarios

@Suite(.timeLimit(.minutes(1))) struct OriginTests {
    private func body(of name: String, at origin: Origin) throws -> Int {
        let answer = try LoopbackSocket.answer(to: "GET /\(name) HTTP/1.0\r\n\r\n", port: origin.port)
        return answer.utf8.count
    }

    @Test func theStatusOfNginxIsUnderstood() throws {
        let status = try #require(
            OriginStatus(
                """
                Active connections: 3
                server accepts handled requests
                 17 16 25
                Reading: 0 Writing: 2 Waiting: 1

                """))
        #expect(status.openConnections == 3)
        #expect(status.requests == 25)
        #expect(status.runningRequests == 2)
    }

    @Test func malformedOriginStatusIsRejected() {
        #expect(OriginStatus("404 Not Found") == nil)
        #expect(OriginStatus("") == nil)
    }

    @Test func loopbackOriginReportsItsStatusLikeNginx() async throws {
        try await withOrigin(bodies: [100]) { origin, _ in
            let before = try origin.status()
            #expect(before.openConnections == 0)
            #expect(before.runningRequests == 0)
            _ = try body(of: "body-100?n=1", at: origin)
            #expect(try origin.status().requests == before.requests + 2)
        }
    }

    /// This test checks nothing if nginx is not installed.
    @Test func nginxOriginServesFilesAtFullAndLimitedSpeed() async throws {
        try await withTemporaryFolder { path in
            let fixtures = try FixtureFolder(path: path)
            _ = try fixtures.body(bytes: 10_000)
            guard let nginx = NginxOrigin.executable() else { return }
            try await NginxOrigin.serving(fixtures, nginx: nginx) { origin in
                let before = try origin.status()
                #expect(try body(of: "body-10000?n=1", at: origin) > 5_000)
                #expect(try body(of: "at/1000000/body-10000?n=1", at: origin) > 5_000)
                #expect(try origin.status().requests == before.requests + 3)
                #expect(try origin.status().openConnections == 0)
            }
        }
    }

    @Test func originStatusOfUnusedPortFails() throws {
        let port = try LoopbackSocket.freePort()
        #expect(!LoopbackSocket.isListening(port: port))
        #expect(throws: OriginError.self) { try Origin(port: port).status() }
    }
}
