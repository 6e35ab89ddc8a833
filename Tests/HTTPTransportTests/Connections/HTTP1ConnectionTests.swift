import Glibc
import Testing

@testable import HTTPTransport

struct HTTP1ConnectionTests {
    private func connection(_ descriptor: Int32 = -1) throws -> HTTP1Connection {
        let key = ConnectionKey(try HTTPURL("http://example.org/"), proxy: nil)
        return HTTP1Connection(
            .plain(Socket(descriptor: descriptor)), key: key, start: ConnectionStart(connected: .now))
    }

    @Test func idleConnectionKeepsNothingOfTheResponse() throws {
        let connection = try connection()
        var position = 0
        // A line whose end has not arrived.
        let line = Array("HTTP/1.1 200 \(String(repeating: "x", count: 90_000))".utf8)
        #expect(connection.reader.next(in: line.span, at: &position) == .needsMore)
        #expect(connection.reader.joinedLine.count == line.count)
        #expect(!connection.hasBeenIdle)
        connection.becomeIdle(at: .now)
        #expect(connection.hasBeenIdle, "the next request reuses the connection")
        #expect(connection.reader.joinedLine.capacity == 0)
    }

    /// Something between the client and the server can have dropped it without notice.
    @Test func connectionIsNotUsedAfterItHasBeenIdleForAlmostTwoMinutes() throws {
        var ends: [2 of Int32] = [-1, -1]
        let status = unsafe withUnsafeMutableBytes(of: &ends) { ends in
            unsafe socketpair(
                AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0,
                ends.assumingMemoryBound(to: Int32.self).baseAddress)
        }
        try #require(status == 0)
        defer {
            close(ends[0])
            close(ends[1])
        }
        let connection = try connection(ends[0])
        let start = MonotonicInstant.now + .seconds(1_000)
        connection.becomeIdle(at: start)
        #expect(connection.isUsable(at: start + .seconds(117)))
        #expect(!connection.isUsable(at: start + .seconds(118)))
    }
}
