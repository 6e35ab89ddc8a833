import AsyncWebImage
import HTTPTransport

/// Answers every request with the same body before `start` returns.
struct InstantTransport: Transport {
    private final class Done: Transfer {
        func cancel() {}
        func resume() {}
    }

    let body: [UInt8]

    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        receiver.receive(ResponseHead(response: HTTPResponse(status: .ok), url: request.url))
        _ = receiver.receive(body.span)
        receiver.finish(.complete(TransferMetrics()))
        return Done()
    }
}
