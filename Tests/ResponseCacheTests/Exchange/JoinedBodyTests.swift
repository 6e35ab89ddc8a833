import HTTPTransport
import Testing

@testable import ResponseCache

/// Two sources that are joined into one body.
struct JoinedBodyTests {
    private let lost = TransportError(url: "http://example.com/a", reason: .connectionLost)

    @Test func remainderFollowsStoredPart() async throws {
        let body = JoinedBody(TestSource([[1], [2]]), then: TestSource([[3]]))
        #expect(try await body.bytes() == [1, 2, 3])
        #expect(try await body.next() == nil)
    }

    @Test func failedRemainderStillDeliversStoredPart() async throws {
        let body = JoinedBody(TestSource([[1], [2]]), then: TestSource([], then: lost))
        #expect(try await body.next() == [1])
        #expect(try await body.next() == [2])
        await #expect(throws: TransportError.self) { try await body.next() }
    }

    @Test func remainderIsNotDeliveredAfterADamagedPart() async throws {
        let body = JoinedBody(TestSource([[1]], then: lost), then: TestSource([[3]]))
        #expect(try await body.next() == [1])
        for _ in 0..<2 { await #expect(throws: TransportError.self) { try await body.next() } }
    }
}
