import Testing

@testable import HTTPTransport

struct ConnectionGateTests {
    private var gate = ConnectionGate()
    private let key: ConnectionKey
    private let other: ConnectionKey

    init() throws {
        key = ConnectionKey(try HTTPURL("https://example.org/"), proxy: nil)
        other = ConnectionKey(try HTTPURL("https://example.com/"), proxy: nil)
    }

    /// Returns which of `transfers` may open a connection.
    private mutating func connecting(_ transfers: UInt64..., to key: ConnectionKey? = nil) -> [UInt64] {
        var found: [UInt64] = []
        for transfer in transfers where gate.mayConnect(transfer, to: key ?? self.key) { found.append(transfer) }
        return found
    }

    private mutating func takeReleased() -> [UInt64] {
        var released: [UInt64] = []
        while let transfer = gate.takeReleased() { released.append(transfer) }
        return released
    }

    @Test mutating func transfersWaitForTheFirstConnectionToTheirServerAlone() {
        let first = connecting(1, 2, 3)
        let others = connecting(4, to: other)
        // It tries another address, or waits for a place.
        let again = connecting(1)
        #expect(first == [1] && others == [4] && again == [1])
        #expect(!gate.hasReleased)
        gate.connected(to: key, isShared: true)
        let released = takeReleased()
        #expect(released == [2, 3])
        #expect(!gate.hasReleased)
    }

    @Test(arguments: [true, false])
    mutating func transfersWaitAgainUnlessTheirServerHasNoSharedConnections(isShared: Bool) {
        _ = connecting(1)
        gate.connected(to: key, isShared: isShared)
        let next = connecting(2, 3)
        #expect(next == (isShared ? [2] : [2, 3]))
    }

    @Test mutating func serverThatBeginsToShareConnectionsIsNoticed() {
        _ = connecting(1)
        gate.connected(to: key, isShared: false)
        gate.connected(to: key, isShared: true)
        let next = connecting(2, 3)
        #expect(next == [2])
    }

    /// Otherwise, they would fail one after the other, each after the time limit.
    @Test mutating func waitingTransfersTryTogetherAfterAFailure() {
        _ = connecting(1, 2, 3)
        gate.ended(1, to: key, failed: true)
        let released = takeReleased()
        let next = connecting(2, 3)
        #expect(released == [2, 3] && next == [2, 3])
    }

    @Test mutating func anotherTransferConnectsAfterACancellation() {
        _ = connecting(1, 2, 3)
        gate.ended(3, to: key, failed: false)
        #expect(!gate.hasReleased, "it was waiting")
        gate.ended(1, to: key, failed: false)
        let released = gate.takeReleased()
        let next = connecting(2)
        #expect(released == 2 && next == [2])
        #expect(takeReleased().isEmpty, "one is enough")
        gate.ended(2, to: key, failed: false)
        #expect(takeReleased() == [3])
        let others = connecting(4, 5)
        #expect(others == [4])
    }

    /// It was canceled meanwhile.
    @Test mutating func nextTransferIsReleasedIfOneOpensNoConnection() {
        _ = connecting(1, 2, 3, 4)
        gate.connected(to: key, isShared: true)
        let released = [gate.takeReleased(), gate.takeReleased()]
        let next = connecting(3)
        #expect(released == [2, 3] && next == [3])
        #expect(takeReleased().isEmpty && !gate.hasReleased)
        gate.connected(to: key, isShared: false)
        #expect(takeReleased() == [4])
    }

    @Test mutating func protocolsOfManyServersAreRememberedButNotOfAll() throws {
        let keys = try (0...ConnectionGate.maximumServers).map {
            ConnectionKey(try HTTPURL("https://h\($0).example.org/"), proxy: nil)
        }
        for key in keys {
            _ = connecting(1, to: key)
            gate.connected(to: key, isShared: false)
        }
        let (last, first) = (connecting(1, 2, to: keys.last), connecting(1, 2, to: keys.first))
        #expect(last == [1, 2] && first == [1])
    }
}
