import Testing

@testable import Scenarios

@Suite struct HostsTests {
    private func route(_ order: Hosts.Order) -> [Int] {
        Hosts.Case(engine: "actor", hosts: 10, order: order, web: .http1, concurrency: 2).route
    }

    @Test func hostsAreVisitedInTheirOrder() {
        #expect(route(.once) == Array(0..<10))
        #expect(route(.inTurn) == (0..<5).flatMap { _ in 0..<10 })
        #expect(route(.random) != route(.inTurn))
        #expect(route(.random).sorted() == route(.inTurn).sorted())
        #expect(route(.random) == route(.random))
    }

    @Test func addressesAreDistinctAndOfThisMachine() {
        let addresses = (0..<1_000).map { LoopbackAddress(number: $0).description }
        #expect(Set(addresses).count == 1_000)
        #expect(addresses[0] == "127.0.0.1")
        #expect(addresses[249] == "127.0.0.250")
        #expect(addresses[250] == "127.0.1.1")
        #expect(LoopbackAddress(number: 0).value == 0x7F00_0001)
    }
}
