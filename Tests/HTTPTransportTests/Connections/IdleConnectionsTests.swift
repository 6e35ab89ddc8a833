import Testing

@testable import HTTPTransport

struct IdleConnectionsTests {
    private var idle = IdleConnections()
    private let connections: [HTTP1Connection]
    private let keys: [ConnectionKey]

    init() throws {
        keys = try ["a", "b"].map { ConnectionKey(try HTTPURL("http://\($0).example.org/"), proxy: nil) }
        connections = keys.flatMap { key in
            (0..<2).map { _ in
                HTTP1Connection(.plain(Socket(descriptor: -1)), key: key, start: ConnectionStart(connected: .now))
            }
        }
        for connection in [0, 2, 1, 3].map({ connections[$0] }) { idle.insert(connection) }
    }

    @Test mutating func connectionOfAServerThatWasUsedLastIsUsedFirst() {
        let (first, second, third) = (
            idle.removeLast(for: keys[0]), idle.removeLast(for: keys[0]), idle.removeLast(for: keys[0])
        )
        #expect(first === connections[1] && second === connections[0] && third == nil)
        #expect(idle.count == 2)
    }

    @Test mutating func oldestConnectionIsKnownAfterEachRemoval() {
        #expect(idle.oldest === connections[0])
        idle.remove(connections[2])
        #expect(idle.oldest === connections[0])
        idle.remove(connections[0])
        #expect(idle.oldest === connections[1])
        idle.insert(connections[0])
        idle.remove(connections[1])
        #expect(idle.oldest === connections[3])
        idle.remove(connections[3])
        #expect(idle.oldest === connections[0])
        idle.remove(connections[0])
        #expect(idle.oldest == nil && idle.count == 0)
    }

    @Test mutating func removedConnectionIsNotRemovedAgain() {
        idle.remove(connections[0])
        idle.remove(connections[0])
        #expect(idle.count == 3)
    }
}
