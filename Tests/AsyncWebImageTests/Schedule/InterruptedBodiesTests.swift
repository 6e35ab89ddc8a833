import HTTPTransport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

struct InterruptedBodiesTests {
    private func key(_ number: Int) throws -> FetchKey {
        FetchKey(url: try HTTPURL("http://example.com/\(number)"), headerFields: [:])
    }

    private func beginning(_ count: Int) throws -> Resumption {
        let head = ResponseHead(
            response: HTTPResponse(status: .ok, headerFields: [.eTag: "\"a\""]), url: try HTTPURL("http://example.com/")
        )
        var resumption = try #require(Resumption(head, offset: count, total: nil))
        resumption.stored = [[UInt8](repeating: 1, count: count)]
        return resumption
    }

    @Test func takenInterruptedBodyIsRemoved() throws {
        var bodies = InterruptedBodies(limit: 1 << 20)
        bodies.insert(try beginning(20_000), for: try key(1))
        #expect(bodies.bytes == 20_000)
        #expect(bodies.take(try key(2)) == nil)
        #expect(bodies.take(try key(1))?.offset == 20_000)
        #expect(bodies.take(try key(1)) == nil)
        #expect(bodies.bytes == 0)
    }

    @Test func unusedCapacityOfAnInterruptedBodyIsNotKept() throws {
        var bodies = InterruptedBodies(limit: 1 << 20)
        var resumption = try beginning(20_000)
        var piece: [UInt8] = []
        piece.reserveCapacity(500_000)
        piece += [UInt8](repeating: 2, count: 20_000)
        resumption.stored = [piece]
        bodies.insert(resumption, for: try key(1))
        let stored = try #require(bodies.take(try key(1))?.stored)
        #expect(stored == [piece])
        #expect(stored.allSatisfy { $0.capacity < 22_500 })
    }

    @Test func oldestInterruptedBodiesAreEvictedFirst() throws {
        var bodies = InterruptedBodies(limit: 100_000)
        for number in 0..<6 { bodies.insert(try beginning(30_000), for: try key(number)) }
        #expect(bodies.bytes == 90_000)
        #expect(bodies.take(try key(2)) == nil)
        #expect(bodies.take(try key(3)) != nil)
    }

    @Test func loweredLimitEvictsOldestInterruptedBodies() throws {
        var bodies = InterruptedBodies(limit: 100_000)
        for number in 0..<3 { bodies.insert(try beginning(30_000), for: try key(number)) }
        bodies.limit = 70_000
        #expect(bodies.bytes == 60_000)
        #expect(bodies.take(try key(0)) == nil)
        bodies.limit = 0
        #expect(bodies.isEmpty && bodies.bytes == 0)
    }

    @Test func newerInterruptedBodyReplacesTheOlderOne() throws {
        var bodies = InterruptedBodies(limit: 100_000)
        bodies.insert(try beginning(30_000), for: try key(1))
        bodies.insert(try beginning(50_000), for: try key(1))
        #expect(bodies.bytes == 50_000)
    }

    @Test func interruptedBodyOutsideSizeLimitsIsNotKept() throws {
        var bodies = InterruptedBodies(limit: 100_000)
        bodies.insert(try beginning(1_000), for: try key(1))
        bodies.insert(try beginning(100_001), for: try key(2))
        #expect(bodies.isEmpty)
        #expect(bodies.bytes == 0)
    }
}
