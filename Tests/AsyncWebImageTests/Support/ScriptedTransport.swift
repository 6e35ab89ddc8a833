import AsyncWebImage
import Threading

/// Leaves every request to the test, which answers when it likes.
final class ScriptedTransport: Transport {
    /// A request that was made, and what came of it so far.
    final class Exchange: Sendable {
        let request: TransportRequest
        private let receiver: any TransferReceiver
        private let state = Locked((hasEnded: false, isLetGo: false))

        fileprivate init(_ request: TransportRequest, _ receiver: any TransferReceiver) {
            self.request = request
            self.receiver = receiver
        }

        /// Whether nobody holds the transfer any more.
        var isLetGo: Bool { state.withLock { $0.isLetGo } }

        func answer(_ status: HTTPResponse.Status = .ok, _ fields: HTTPFields = [:], _ body: [UInt8] = []) {
            receiver.receive(
                ResponseHead(response: HTTPResponse(status: status, headerFields: fields), url: request.url))
            if !body.isEmpty { _ = receiver.receive(body.span) }
        }

        /// The end, unless it has been told.
        func finish(_ outcome: TransferOutcome = .complete(TransferMetrics())) {
            let isFirst = state.withLock { state in
                defer { state.hasEnded = true }
                return !state.hasEnded
            }
            if isFirst { receiver.finish(outcome) }
        }

        func fail(_ reason: TransportError.Reason) {
            finish(.failed(TransportError(url: request.url.string, reason: reason)))
        }

        fileprivate func letGo() { state.withLock { $0.isLetGo = true } }
    }

    private final class Handle: Transfer {
        let exchange: Exchange

        init(_ exchange: Exchange) {
            self.exchange = exchange
        }

        deinit { exchange.letGo() }

        func cancel() { exchange.fail(.cancelled) }
        func resume() {}
    }

    /// The requests in their order; for one reader.
    let exchanges: AsyncStream<Exchange>
    private let continuation: AsyncStream<Exchange>.Continuation

    init() {
        (exchanges, continuation) = AsyncStream.makeStream(of: Exchange.self)
    }

    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        let exchange = Exchange(request, receiver)
        continuation.yield(exchange)
        return Handle(exchange)
    }
}
