import TestSupport
import Testing
import Threading

@testable import HTTPTransport

/// Servers that receive too much.
@Suite(.timeLimit(.minutes(1)))
struct CalmPeriodsTests {
    private var periods = CalmPeriods()
    private let start = MonotonicInstant.now
    private let end: MonotonicInstant

    init() {
        end = start + CalmPeriods.duration
    }

    private func key(_ number: Int) throws -> ConnectionKey {
        ConnectionKey(try HTTPURL("https://host\(number).example/"), proxy: nil)
    }

    private mutating func takeReleased() -> [UInt64] {
        var released: [UInt64] = []
        while let transfer = periods.takeReleased() { released.append(transfer) }
        return released
    }

    @Test mutating func transfersWaitUntilThePeriodEnds() throws {
        periods.insert(try key(1), at: start)
        let waits = periods.makesWait(1, for: try key(1), at: start)
        let othersWait = periods.makesWait(2, for: try key(2), at: start)
        #expect(waits && !othersWait && periods.next == end)
        periods.end(at: start)
        #expect(!periods.hasReleased)
        periods.end(at: end)
        #expect(periods.hasReleased && periods.next == nil)
        #expect(takeReleased() == [1] && !periods.hasReleased)
        let waitsAgain = periods.makesWait(1, for: try key(1), at: end)
        #expect(!waitsAgain)
    }

    @Test mutating func periodIsExtendedByAnotherDemand() throws {
        periods.insert(try key(1), at: start)
        periods.insert(try key(1), at: start)
        let later = start + .milliseconds(100)
        periods.insert(try key(1), at: later)
        let waits = periods.makesWait(1, for: try key(1), at: later)
        periods.end(at: end)
        #expect(waits && !periods.hasReleased)
        periods.end(at: later + CalmPeriods.duration)
        #expect(takeReleased() == [1] && periods.next == nil)
    }

    @Test mutating func numberOfServersHasAMaximum() throws {
        periods.insert(try key(0), at: start)
        let waits = periods.makesWait(1, for: try key(0), at: start)
        for number in 1...CalmPeriods.maximumServers { periods.insert(try key(number), at: start) }
        #expect(waits && takeReleased() == [1])
        let lastWaits = periods.makesWait(2, for: try key(CalmPeriods.maximumServers), at: start)
        #expect(lastWaits)
    }

    @Test(arguments: ["reset", "GOAWAY"])
    func furtherConnectionIsNotOpenedAtOnce(way: String) async throws {
        let fixture = try SharedFixture(maximumConnections: 1)
        let times = Locked<[MonotonicInstant]>([])
        let server = try fixture.server(
            maximumStreams: 1, accepted: { _ in times.withLock { $0.append(.now) } }
        ) { connection, stream, path in
            guard path == "/held", connection.number == 0 else { return connection.respond(stream, body: [2]) }
            times.withLock { $0.append(.now) }
            if way == "reset" { connection.peer.reset(stream, 11) }
            connection.peer.goAway(lastStream: stream, way == "reset" ? 0 : 11)
            connection.flush()
            if way == "GOAWAY" { connection.close() }
        }
        // Until it is answered, the server's settings have arrived.
        #expect(try await fixture.transport.fetch(server.url("/a")).isComplete)
        let recorders = try fixture.start(3, server.url("/held"))
        #expect(await recorders[0].end().error?.reason == .connectionLost)
        for recorder in recorders.dropFirst() { #expect(await recorder.end().body == [2]) }
        let instants = times.withLock { $0 }
        try #require(instants.count >= 3)
        #expect(instants[1].duration(to: instants[2]) >= CalmPeriods.duration)
    }
}
