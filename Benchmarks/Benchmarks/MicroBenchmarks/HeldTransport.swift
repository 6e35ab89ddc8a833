import AsyncWebImage
import HTTPTransport
import Synchronization

/// A transport that holds all responses until a benchmark sends them.
final class HeldTransport: Transport {
    private final class Held: Transfer {
        func cancel() {}
        func resume() {}
    }

    private let waiting = Mutex<[(url: HTTPURL, receiver: any TransferReceiver)]>([])

    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        waiting.withLock { $0.append((request.url, receiver)) }
        return Held()
    }

    /// Responds to all waiting requests with the same body.
    func answer(with body: [UInt8]) {
        let answered = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for (url, receiver) in answered {
            receiver.receive(ResponseHead(response: HTTPResponse(status: .ok), url: url))
            _ = receiver.receive(body.span)
            receiver.finish(.complete(TransferMetrics()))
        }
    }
}
