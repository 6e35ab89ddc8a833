import Testing

@testable import HTTPTransport

/// The store of sessions.
struct TLSSessionsTests {
    private let now = MonotonicInstant.now

    private func peer(_ number: Int) -> TLSPeer { TLSPeer(host: "\(number).example", port: 443) }

    @Test func newestSessionIsReturnedUntilItsEnd() {
        var sessions = TLSSessions()
        sessions.insert([1], for: peer(1), settings: 1, until: now + .seconds(10))
        sessions.insert([2], for: peer(1), settings: 1, until: now + .seconds(5))
        #expect(sessions.session(for: peer(1), settings: 1, now: now) == [2])
        #expect(sessions.session(for: peer(1), settings: 1, now: now + .seconds(4)) == [2])
        #expect(sessions.session(for: peer(1), settings: 1, now: now + .seconds(5)) == nil)
        #expect(sessions.count == 0)
    }

    @Test func sessionBelongsToItsServerAndSettings() {
        var sessions = TLSSessions()
        sessions.insert([1], for: peer(1), settings: 1, until: now + .seconds(10))
        #expect(sessions.session(for: TLSPeer(host: "1.example", port: 444), settings: 1, now: now) == nil)
        #expect(sessions.session(for: peer(2), settings: 1, now: now) == nil)
        #expect(sessions.session(for: TLSPeer(host: "1.example.", port: 443), settings: 1, now: now) == [1])
        #expect(sessions.session(for: peer(1), settings: 2, now: now) == nil)
    }

    @Test func leastRecentlyUsedSessionsAreRemoved() {
        var sessions = TLSSessions(limit: 32)
        for number in 0..<32 { sessions.insert([1], for: peer(number), settings: 1, until: now + .seconds(10)) }
        #expect(sessions.session(for: peer(0), settings: 1, now: now) != nil)
        for number in 32..<34 { sessions.insert([1], for: peer(number), settings: 1, until: now + .seconds(10)) }
        #expect(sessions.count == 32)
        let kept = (0..<34).filter { sessions.session(for: peer($0), settings: 1, now: now) != nil }
        #expect(kept == [0] + Array(3..<34))
    }
}
