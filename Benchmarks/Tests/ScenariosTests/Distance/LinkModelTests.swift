import DelayingProxy
import Testing

/// Tests of the delaying proxy's arithmetic, without clocks and sockets.
@Suite struct LinkModelTests {
    private static let millisecond: UInt64 = 1_000_000

    @Test func connectionsShareTheLinkInOrder() {
        var link = link_model(rate: 1_000_000, delay: 25 * Self.millisecond, free_at: 0)
        // A kilobyte takes a millisecond to leave, then half of the round trip.
        #expect(link_model_send(&link, 0, 1_000) == 26 * Self.millisecond)
        #expect(link_model_send(&link, 0, 1_000) == 27 * Self.millisecond)
        #expect(link_model_send(&link, 10 * Self.millisecond, 1_000) == 36 * Self.millisecond)
    }

    @Test func nothingDelaysWithoutAByteOrADistance() {
        var link = link_model(rate: 125_000_000, delay: 0, free_at: 0)
        #expect(link_model_send(&link, 7, 0) == 7)
    }

    @Test func aWindowStartsWithTenSegments() {
        var window = congestion_window_make()
        #expect(congestion_window_room(&window) == 14_600)
        congestion_window_send(&window, 14_600)
        #expect(congestion_window_room(&window) == 0)
        congestion_window_acknowledge(&window, 1_460)
        #expect(congestion_window_room(&window) == 2_920)
    }

    @Test func aFullWindowDoublesInEachRoundTripUpTo8MiB() {
        var window = congestion_window_make()
        var sizes: [UInt64] = []
        for _ in 0..<12 {
            let room = congestion_window_room(&window)
            congestion_window_send(&window, room)
            congestion_window_acknowledge(&window, room)
            sizes.append(room)
        }
        #expect(sizes.prefix(4) == [14_600, 29_200, 58_400, 116_800])
        #expect(sizes.last == 8 << 20)
    }
}
