import Testing

@testable import HTTPTransport

struct HTTP1ConnectionTests {
    @Test func idleConnectionKeepsNothingOfTheResponse() throws {
        let key = ConnectionKey(try HTTPURL("http://example.org/"), proxy: nil)
        let connection = HTTP1Connection(Socket(descriptor: -1), key: key, now: .now)
        var position = 0
        // A line whose end has not arrived.
        let line = Array("HTTP/1.1 200 \(String(repeating: "x", count: 90_000))".utf8)
        #expect(connection.reader.next(in: line.span, at: &position) == .needsMore)
        #expect(connection.reader.joinedLine.count == line.count)
        #expect(connection.established != nil)
        connection.becomeIdle(at: .now)
        #expect(connection.established == nil, "the next request reuses the connection")
        #expect(connection.reader.joinedLine.capacity == 0)
    }
}
