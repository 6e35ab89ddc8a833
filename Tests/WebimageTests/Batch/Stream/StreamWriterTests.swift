import Glibc
import Testing
import WebimageConsole

@testable import webimage

@Suite(.timeLimit(.minutes(1)))
struct StreamWriterTests {
    @Test func closedReaderOfASocketIsNoticed() async throws {
        var pair: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { close(pair[0]) }
        let writer = try StreamWriter(descriptor: pair[0], named: "output")
        close(pair[1])
        let error = await #expect(throws: FileError.self) { try await writer.watchReader() }
        #expect(error?.code == EPIPE)
    }
}
