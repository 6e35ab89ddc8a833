import LoopbackOrigin
import Testing

@testable import HTTPTransport

@Suite(.timeLimit(.minutes(1)))
struct MetricsTests {
    @Test func transferMetricsAreInChronologicalOrder() async throws {
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/r", .redirect(to: "/a"))
            origin.route("/a", LoopbackOrigin.Response(body: pattern(100_000)))
            let transport = CurlTransport(
                configuration: .init(proxy: .none, resolver: ThreadedResolver { _ in ["127.0.0.1"] }))
            let first = try #require(try await transport.fetch("http://host.example:\(origin.port)/a").metrics)
            #expect(first.nameLookupDuration > .zero)
            #expect(first.connectDuration >= first.nameLookupDuration)
            #expect(first.tlsDuration == .zero)
            #expect(first.timeToFirstByte >= first.connectDuration)
            #expect(first.totalDuration >= first.timeToFirstByte)
            #expect(first.bodyBytes == 100_000)
            #expect(!first.reusedConnection)
            #expect(first.protocolName == "HTTP/1.1")

            let second = try #require(try await transport.fetch("http://host.example:\(origin.port)/r").metrics)
            #expect(second.nameLookupDuration == .zero)
            #expect(second.connectDuration == .zero)
            #expect(second.reusedConnection)
            #expect(second.redirectCount == 1)
            #expect(second.timeToFirstByte > .zero && second.totalDuration >= second.timeToFirstByte)
        }
    }
}
