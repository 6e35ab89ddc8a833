import AsyncWebImage
import LoopbackOrigin
import Testing

@testable import webimage

/// Data received over the network is counted for URLs that are followed.
@Suite(.timeLimit(.minutes(1)))
struct TrafficTests {
    /// Takes everything.
    private final class Receiver: TransferReceiver {
        let end = AsyncStream<Void>.makeStream()

        func receive(_ head: ResponseHead) {}
        func receive(_ bytes: Span<UInt8>) -> BodyDemand { .more }
        func finish(_ outcome: TransferOutcome) { end.continuation.finish() }
    }

    private let traffic = Traffic(over: CurlTransport())

    private func fetch(_ url: String) async throws {
        let receiver = Receiver()
        _ = traffic.start(TransportRequest(url: try HTTPURL(url)), receiver: receiver)
        for await _ in receiver.end.stream {}
    }

    @Test func meterCountsUntilLastFollowerLeaves() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [1, 2, 3]))
            let url = origin.url("/a")
            traffic.follow(url)
            traffic.follow(url)
            try await fetch(url)
            traffic.forget(url)
            let flow = try #require(traffic.flow(of: url))
            #expect(flow.status == 200 && flow.received == 3 && flow.expected == 3)
            traffic.forget(url)
            #expect(traffic.flow(of: url) == nil)
            #expect(traffic.received == 3)
        }
    }

    @Test func meterIgnoresUnfollowedURLs() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [1, 2, 3]))
            try await fetch(origin.url("/a"))
            #expect(traffic.flow(of: origin.url("/a")) == nil && traffic.received == 3)
        }
    }

    @Test func countsAnewWithEachTry() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [1, 2, 3]))
            let url = origin.url("/a")
            traffic.follow(url)
            try await fetch(url)
            try await fetch(url)
            #expect(traffic.flow(of: url)?.received == 3 && traffic.received == 6)
        }
    }
}
