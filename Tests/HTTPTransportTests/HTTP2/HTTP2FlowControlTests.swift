import HTTPTypes
import Testing

@testable import HTTPTransport

struct HTTP2FlowControlTests {
    private let exchange: HTTP2Exchange
    private let peer = HTTP2Peer()

    init() throws {
        exchange = try HTTP2Exchange()
        exchange.run(with: peer)
    }

    /// Opens a stream whose response has a body of `count` bytes.
    private func send(bodyOf count: Int) throws -> Int32 {
        let stream = try exchange.open()
        exchange.run(with: peer)
        peer.respond(to: stream, [(":status", "200")], body: Array(repeating: 1, count: count))
        return stream
    }

    @Test func streamThatIsNotConsumedHoldsItsWindowOnly() throws {
        exchange.consumes = false
        let stream = try send(bodyOf: 3 << 20)
        exchange.run(with: peer)
        #expect(exchange.bodies[stream]?.count == HTTP2StreamWindow.initialSize)
        exchange.session.consume(HTTP2StreamWindow.initialSize, of: stream)
        exchange.run(with: peer)
        #expect(exchange.bodies[stream]?.count == 2 * HTTP2StreamWindow.initialSize)
        #expect(exchange.ends.isEmpty)
    }

    @Test func pausedStreamsDoNotBlockOthers() throws {
        exchange.consumes = false
        let paused = try (0..<20).map { _ in try send(bodyOf: 2 << 20) }
        exchange.run(with: peer)
        #expect(paused.allSatisfy { exchange.bodies[$0]?.count == 1 << 20 })
        exchange.consumes = true
        let other = try send(bodyOf: 3 << 20)
        exchange.run(with: peer)
        #expect(exchange.ends == [other: .complete] && exchange.bodies[other]?.count == 3 << 20)
    }

    @Test func windowGrowsWhileBodiesAreConsumedPromptly() throws {
        let stream = try send(bodyOf: 40 << 20)
        while exchange.bodies[stream]?.count ?? 0 < 20 << 20 {
            exchange.receive(peer.takeOutput())
            _ = peer.receive(exchange.takeOutput())
        }
        exchange.consumes = false
        let count = exchange.bodies[stream]?.count ?? 0
        exchange.run(with: peer)
        let held = (exchange.bodies[stream]?.count ?? 0) - count
        #expect(held <= HTTP2StreamWindow.maximumSize && held > HTTP2StreamWindow.maximumSize / 2)
    }

    @Test func moreThanTheWindowIsAnError() throws {
        let exchange = try HTTP2Exchange.open(streams: 2)
        exchange.consumes = false
        exchange.receive(.headers([(":status", "200")]))
        for _ in 0..<64 { exchange.receive(.data(Array(repeating: 1, count: 16_384))) }
        #expect(exchange.ends.isEmpty && exchange.failure == nil)
        exchange.receive(.data([1]))
        #expect(exchange.ends == [1: .invalid(.flowControlError)] && exchange.failure == nil)
        // nghttp2 delivers the frame that exceeds the window, but no other.
        exchange.receive(.data([1]))
        #expect(exchange.bodies[1]?.count == 1 << 20 + 1)
    }

    @Test func bytesOfCanceledStreamsDoNotUseUpTheConnectionsWindow() throws {
        let exchange = try HTTP2Exchange.open(streams: 0)
        let part = [UInt8](repeating: 1, count: 16_384)
        for _ in 0..<20 {
            let stream = try exchange.open()
            _ = exchange.takeOutput()
            exchange.receive(.headers([(":status", "200")], stream: stream))
            exchange.session.cancel(stream)
            for _ in 0..<30 { exchange.receive(.data(part, stream: stream)) }
            _ = exchange.takeOutput()
            for _ in 0..<30 { exchange.receive(.data(part, stream: stream)) }
        }
        #expect(exchange.failure == nil && exchange.bodies.isEmpty)
    }

    @Test func consumingMoreThanHasArrivedDoesNotOpenTheWindow() throws {
        exchange.consumes = false
        let stream = try send(bodyOf: 3 << 20)
        exchange.session.consume(10 << 20, of: stream)
        exchange.session.consume(-1, of: stream)
        exchange.session.consume(1, of: 99)
        exchange.run(with: peer)
        #expect(exchange.bodies[stream]?.count == 1 << 20)
    }

    @Test func windowDoublesAfterAWholeOneWithoutAPause() {
        var window = HTTP2StreamWindow()
        for size in [1 << 20, 2 << 20, 4 << 20] {
            #expect(window.size == size)
            window.receive(size / 2)
            #expect(window.consume(size / 2) == size / 2 && !window.grow())
            window.receive(size / 2)
            #expect(window.consume(size / 2) == size / 2 && window.grow())
        }
        window.receive(8 << 20)
        #expect(window.consume(9 << 20) == 8 << 20)
        #expect(!window.grow() && window.size == HTTP2StreamWindow.maximumSize)
    }

    @Test func windowDoesNotGrowAfterAPause() {
        var window = HTTP2StreamWindow()
        window.receive(1 << 19)
        #expect(window.consume(1 << 19) == 1 << 19)
        window.receive(1 << 19 + 1)
        #expect(window.consume(1 << 19 + 1) == 1 << 19 + 1 && !window.grow())
        window.receive(1 << 19)
        #expect(window.consume(1 << 19) == 1 << 19 && !window.grow())
        window.receive(1 << 19)
        #expect(window.consume(1 << 19) == 1 << 19 && window.grow())
    }
}
