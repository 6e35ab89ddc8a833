import Testing

@testable import HTTPTransport

struct DueReadsTests {
    private static let delay = ReceiveCoalescing.maximumDelay

    private let start = MonotonicInstant.now
    private let connections: [HTTP1Connection]
    private var reads = DueReads()

    init() throws {
        let key = ConnectionKey(try HTTPURL("http://example.org/"), proxy: nil)
        connections = (0..<2).map { _ in
            HTTP1Connection(.plain(Socket(descriptor: -1)), key: key, start: ConnectionStart(connected: .now))
        }
    }

    /// Makes a connection due a ``delay`` after `time`.
    private mutating func receive(_ index: Int, after time: Duration) {
        for _ in 0..<2 { connections[index].coalescing.received(1, missing: .max, at: start + time) }
        reads.insert(connections[index])
    }

    @Test mutating func connectionsAreDueInTheOrderOfTheirReads() {
        #expect(reads.next() == nil)
        receive(0, after: .zero)
        receive(1, after: .milliseconds(1))
        #expect(reads.next() == start + Self.delay)
        #expect(reads.remove(at: start + (Self.delay - .milliseconds(1))) == nil)
        #expect(reads.remove(at: start + Self.delay) === connections[0])
        #expect(reads.remove(at: start + Self.delay) == nil)
        #expect(reads.remove(at: start + Self.delay + .milliseconds(1)) === connections[1])
        #expect(reads.next() == nil)
    }

    @Test mutating func readPostponesTheNextOne() {
        receive(0, after: .zero)
        receive(1, after: .milliseconds(1))
        receive(0, after: .milliseconds(2))
        #expect(reads.remove(at: start + .seconds(1)) === connections[1])
        #expect(reads.next() == start + .milliseconds(2) + Self.delay)
        #expect(reads.remove(at: start + .seconds(1)) === connections[0])
        #expect(reads.next() == nil)
    }

    @Test mutating func connectionThatIsReadAtOnceAgainIsNotDue() {
        receive(0, after: .zero)
        connections[0].coalescing.stop()
        #expect(reads.next() == nil)
        receive(0, after: .milliseconds(1))
        #expect(reads.next() == start + .milliseconds(1) + Self.delay, "it is added again")
    }
}
