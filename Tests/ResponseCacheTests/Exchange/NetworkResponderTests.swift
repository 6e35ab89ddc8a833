import HTTPTransport
import HTTPTypes
import TestSupport
import Testing
import Threading

@testable import ResponseCache

/// A response over the network, pulled.
@Suite(.timeLimit(.minutes(1)))
struct NetworkResponderTests {
    /// Answers every request with a head and a byte, and ends a transfer only when it is canceled.
    private final class EndlessTransport: Transport {
        private let state = Locked<[TransferProbe]>([])

        var transfers: [TransferProbe] { state.withLock { $0 } }

        func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
            receiver.receive(ResponseHead(response: HTTPResponse(status: .ok), url: request.url))
            _ = receiver.receive([1].span)
            let transfer = TransferProbe { receiver.finish(.failed(.cancelled(request.url))) }
            state.withLock { $0.append(transfer) }
            return transfer
        }
    }

    private let transport = EndlessTransport()
    private let request: TransportRequest

    init() throws {
        request = TransportRequest(url: try HTTPURL("http://example.com/a"))
    }

    @Test func releasingAResponseBodyCancelsItsTransfer() async throws {
        let responder = NetworkResponder(transport)
        func read() async throws {
            let response = try await responder.response(to: request)
            #expect(response.head.status == .ok && response.source == .network)
            #expect(try await response.body.next() == [1])
            #expect(transport.transfers[0].cancels.count == 0)
        }
        try await read()
        #expect(transport.transfers.map(\.cancels.count) == [1])
    }

    @Test func transferCanBeCanceledWithoutReader() async throws {
        let responder = NetworkResponder(transport)
        let response = try await responder.response(to: request)
        responder.cancel()
        #expect(transport.transfers.map(\.cancels.count) == [1])
        #expect(try await response.body.next() == [1])
        await #expect(throws: TransportError.self) { try await response.body.next() }
    }

    @Test func noRequestIsSentAfterACancellation() async throws {
        let responder = NetworkResponder(transport)
        responder.cancel()
        await #expect(throws: TransportError.self) { _ = try await responder.response(to: request).head }
        #expect(transport.transfers.isEmpty)
    }
}
