import AsyncWebImage
import HTTPTransport
import LoopbackOrigin
import Testing

@testable import webimage

/// Data received over the network is counted for URLs that are followed.
@Suite(.timeLimit(.minutes(1)))
struct TransferMeterTests {
    /// A receiver that accepts all bytes, and reads them to its own memory if it is asked to.
    private final class Receiver: DirectBodyReceiver {
        let end = AsyncStream<Void>.makeStream()
        private let readsDirectly: Bool

        init(readsDirectly: Bool) {
            self.readsDirectly = readsDirectly
        }

        func receive(_ head: ResponseHead) {}
        func receive(_ bytes: Span<UInt8>) -> BodyDemand { .more }
        func receive(upTo count: Int, reading read: (inout OutputSpan<UInt8>) -> Void) -> BodyDemand? {
            guard readsDirectly else { return nil }
            _ = [UInt8](capacity: count, initializingWith: read)
            return .more
        }
        func finish(_ outcome: TransferOutcome) { end.continuation.finish() }
    }

    private let meter = TransferMeter(over: CurlTransport())

    private func fetch(_ url: String, readsDirectly: Bool = false) async throws {
        let receiver = Receiver(readsDirectly: readsDirectly)
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

    @Test(arguments: [false, true]) func meterCountsLongBodies(readsDirectly: Bool) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [UInt8](repeating: 1, count: 300_000)))
            let url = origin.url("/a")
            meter.follow(url)
            try await fetch(url, readsDirectly: readsDirectly)
            #expect(meter.flow(of: url)?.received == 300_000 && meter.received == 300_000)
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
