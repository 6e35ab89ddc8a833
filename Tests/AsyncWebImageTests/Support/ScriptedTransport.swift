import AsyncWebImage
import HTTPTransport
import Threading

/// A transport whose requests are answered by the test.
final class ScriptedTransport: Transport {
    /// A request and the state of its transfer.
    final class Exchange: Sendable {
        let request: TransportRequest
        private struct State {
            /// The receiver; `nil` after the end.
            var receiver: (any TransferReceiver)?
            var isLetGo = false
            var isPaused = false
        }

        private let state: Locked<State>
        private let (resumes, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))

        fileprivate init(_ request: TransportRequest, _ receiver: any TransferReceiver) {
            self.request = request
            state = Locked(State(receiver: receiver))
        }

        private var receiver: (any TransferReceiver)? { state.withLock { $0.receiver } }

        /// A Boolean value that indicates whether the next piece waits until it is wanted.
        var isPaused: Bool { state.withLock { $0.isPaused } }

        /// A Boolean value that indicates whether the transfer has been released.
        var isLetGo: Bool { state.withLock { $0.isLetGo } }

        func answer(_ status: HTTPResponse.Status = .ok, _ fields: HTTPFields = [:], _ body: [UInt8] = []) {
            receiver?.receive(
                ResponseHead(response: HTTPResponse(status: status, headerFields: fields), url: request.url))
            if !body.isEmpty { _ = receiver?.receive(body.span) }
        }

        /// Answers with one byte from `url`, to which the request has been redirected.
        func answer(from url: HTTPURL) {
            receiver?.receive(ResponseHead(response: HTTPResponse(status: .ok), url: url, redirectCount: 1))
            _ = receiver?.receive([1].span)
        }

        /// Offers the next piece of the body; false if it was not taken.
        func offer(_ piece: [UInt8]) -> Bool {
            // A receiver that pauses can resume immediately.
            state.withLock { $0.isPaused = true }
            switch receiver?.receive(piece.span) {
            case .more, .stop:
                state.withLock { $0.isPaused = false }
                return true
            case .pause, nil: return false
            }
        }

        /// Offers the next piece of the body until it is taken; false if the transfer has ended.
        func send(_ piece: [UInt8]) async -> Bool {
            while receiver != nil, !Task.isCancelled {
                if offer(piece) { return true }
                await goesOn()
            }
            return false
        }

        /// Returns once the next piece is wanted, or the transfer has ended.
        func goesOn() async {
            for await _ in resumes where !isPaused { return }
        }

        fileprivate func resume() {
            state.withLock { $0.isPaused = false }
            continuation.yield()
        }

        /// Reports the end, unless it has been reported.
        func finish(_ outcome: TransferOutcome = .complete(TransferMetrics())) {
            let receiver = state.withLock { state in
                defer { state.receiver = nil }
                return state.receiver
            }
            receiver?.finish(outcome)
            continuation.finish()
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
        func resume() { exchange.resume() }
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
