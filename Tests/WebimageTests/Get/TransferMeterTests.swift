import AsyncWebImage
import LoopbackOrigin
import Testing

@testable import webimage

/// Data received over the network is counted for URLs that are followed.
@Suite(.timeLimit(.minutes(1)))
struct TransferMeterTests {
    /// A receiver that accepts all bytes.
    private final class Receiver: TransferReceiver {
        let end = AsyncStream<Void>.makeStream()

        func receive(_ head: ResponseHead) {}
        func receive(_ bytes: Span<UInt8>) -> BodyDemand { .more }
        func finish(_ outcome: TransferOutcome) { end.continuation.finish() }
    }

    private let meter = TransferMeter(over: CurlTransport())

    private func fetch(_ url: String) async throws {
        let receiver = Receiver()
        _ = meter.start(TransportRequest(url: try HTTPURL(url)), receiver: receiver)
        for await _ in receiver.end.stream {}
    }

    @Test func meterCountsUntilLastFollowerLeaves() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [1, 2, 3]))
            let url = origin.url("/a")
            meter.follow(url)
            meter.follow(url)
            try await fetch(url)
            meter.forget(url)
            let flow = try #require(meter.flow(of: url))
            #expect(flow.status == 200 && flow.received == 3 && flow.expected == 3)
            meter.forget(url)
            #expect(meter.flow(of: url) == nil)
            #expect(meter.received == 3)
        }
    }

    @Test func meterIgnoresUnfollowedURLs() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [1, 2, 3]))
            try await fetch(origin.url("/a"))
            #expect(meter.flow(of: origin.url("/a")) == nil && meter.received == 3)
        }
    }

    @Test func meterRestartsItsCountWithEachAttempt() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [1, 2, 3]))
            let url = origin.url("/a")
            meter.follow(url)
            try await fetch(url)
            try await fetch(url)
            #expect(meter.flow(of: url)?.received == 3 && meter.received == 6)
        }
    }
}
