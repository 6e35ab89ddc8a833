import Testing

@testable import Scenarios

@Suite(.timeLimit(.minutes(1))) struct OriginLogTests {
    @Test func connectionsAndResumedSessionsAreCounted() throws {
        let log = try #require(
            OriginLog(
                """
                7 . 200 HTTP/1.1 TLSv1.3
                8 r 200 HTTP/1.1 TLSv1.3
                7 . 200 HTTP/1.1 TLSv1.3
                9 r 404 HTTP/2.0 TLSv1.2
                8 r 200 HTTP/1.1 TLSv1.3

                """))
        #expect(log.connections == 3)
        #expect(log.resumed == 2)
        #expect(log.successes == 4)
        #expect(log.versions == ["HTTP/1.1 TLSv1.3", "HTTP/2.0 TLSv1.2"])
    }

    @Test(arguments: ["7 . 200 HTTP/1.1", "7 x 200 HTTP/1.1 TLSv1.3", "127.0.0.1 - - [29/Nov/2026] GET"])
    func anotherFormatIsRejected(line: String) {
        #expect(OriginLog(line + "\n") == nil)
    }

    @Test func anEmptyLogHasNoConnections() throws {
        let log = try #require(OriginLog(""))
        #expect(log.connections == 0)
        #expect(log.versions.isEmpty)
    }

    @Test func onlyTheLinesOfTheRunAreRead() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/access.log"
            let earlier = Array("1 . 200 HTTP/1.1 TLSv1.3\n".utf8)
            try File.write(earlier + Array("2 . 200 HTTP/2.0 TLSv1.3\n".utf8), to: path)
            let log = try await OriginLog.read(path, from: earlier.count, requests: 1)
            #expect(log.versions == ["HTTP/2.0 TLSv1.3"])
        }
    }
}
