package import HTTPTransport
import Threading

/// A responder that sends the requests of one download, one after the other.
package final class NetworkResponder: Responder {
    private let transport: any Transport
    private let isUndecided: Bool
    /// The part of the body that is wanted.
    package let interest = BodyInterest()
    /// The pipe of the latest transfer.
    private let state: Locked<(pipe: BodyPipe?, isCancelled: Bool)>
    /// The response to a first request that has been sent already.
    private let begun: Locked<BegunResponse?>

    /// A response that has begun to arrive.
    package struct BegunResponse: Sendable {
        let pipe: BodyPipe
        /// The time when its request was sent, by the clock of the cache.
        let requestedAt: Int

        package init(_ pipe: BodyPipe, requestedAt: Int) {
            (self.pipe, self.requestedAt) = (pipe, requestedAt)
        }
    }

    /// Creates a responder over a transport, which can have begun to receive the response to the first request.
    ///
    /// If `isUndecided`, heads decide whether bodies are wanted, so that little of them is received before they are read.
    package init(_ transport: any Transport, isUndecided: Bool = false, after begun: BegunResponse? = nil) {
        self.transport = transport
        self.isUndecided = isUndecided
        self.begun = Locked(begun)
        state = Locked((begun?.pipe, false))
    }

    package func response(to request: TransportRequest) async throws -> IncomingResponse {
        if let begun = begun.withLock({ $0.take() }) {
            let body = NetworkBody(begun.pipe)
            var response = IncomingResponse(head: try await begun.pipe.head(), source: .network, body: body)
            response.requestedAt = begun.requestedAt
            return response
        }
        let pipe = BodyPipe(url: request.url, isUndecided: isUndecided, interest: interest)
        let isCancelled = state.withLock { state in
            state.pipe = pipe
            return state.isCancelled
        }
        guard !isCancelled else { throw TransportError.cancelled(request.url) }
        let body = NetworkBody(pipe)
        pipe.attach(transport.start(request, receiver: pipe))
        return IncomingResponse(head: try await pipe.head(), source: .network, body: body)
    }

    /// Cancels the transfer at once, even if no task pulls its body at the moment; no further request is sent.
    package func cancel() {
        let pipe = state.withLock { state in
            state.isCancelled = true
            return state.pipe
        }
        pipe?.cancel()
    }
}

/// A body that is received over the network.
private final class NetworkBody: BodySource {
    private let pipe: BodyPipe

    init(_ pipe: BodyPipe) {
        self.pipe = pipe
    }

    deinit { pipe.cancel() }

    var metrics: TransferMetrics { pipe.metrics }

    func next() async throws -> [UInt8]? { try await pipe.next() }
}
