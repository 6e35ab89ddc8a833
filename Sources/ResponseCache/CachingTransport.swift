import HTTPSemantics
package import HTTPTransport
import HTTPTypes

/// Takes a response as it comes, from wherever it comes.
package protocol ResponseReceiver: TransferReceiver {
    /// The head, which counts as that of ``TransferReceiver/receive(_:)-(ResponseHead)``.
    func receive(_ head: ResponseHead, from source: ResponseSource)
}

extension ResponseReceiver {
    package func receive(_ head: ResponseHead) { receive(head, from: .network) }
}

/// Where one download gets its responses from: a transport, or a cache in front of it, as far as its policy lets it.
package struct CachingTransport: Sendable {
    let transport: any Transport
    let cache: ResponseCache?
    let policy: CachePolicy

    /// The responses of `transport`, through `cache` if there is one.
    package init(transport: any Transport, cache: ResponseCache?, policy: CachePolicy) {
        self.transport = transport
        self.cache = cache
        self.policy = policy
    }

    /// Starts a transfer at once; `decision` is what ``decide(_:then:)`` has said of the same request, if it was asked.
    package func start(
        _ request: TransportRequest, _ decision: CacheDecision? = nil, receiver: any ResponseReceiver
    ) -> any Transfer {
        guard let lookUp = lookUp(request) else {
            guard policy == .cacheOnly else { return transport.start(request, receiver: receiver) }
            receiver.finish(.failed(TransportError(url: request.url.string, reason: .notCached)))
            return NoTransfer()
        }
        let transfer = CachingTransfer(lookUp, over: transport, receiver: receiver)
        transfer.start(decision)
        return transfer
    }

    /// Finds out what the cache makes of a request; `then` is called on its thread, or at once if it has no part in it.
    package func decide(_ request: TransportRequest, then: @escaping @Sendable (CacheDecision) -> Void) {
        guard let lookUp = lookUp(request) else { return then(policy == .cacheOnly ? .refuse : .fetch(standIn: nil)) }
        lookUp.cache.thread.append { then(lookUp.decide().closed) }
    }

    /// Nil if the cache has no part in the request.
    private func lookUp(_ request: TransportRequest) -> CacheLookUp? {
        // Which cookies a jar will send is not known here, and so not whose response it will be.
        guard let cache, policy != .noStore, !request.handlesCookies else { return nil }
        // A part is no answer of its own, but may complete what is stored.
        let isWhole = request.headerFields[.range] == nil || request.asksForRest
        guard request.method == .get && isWhole || policy == .cacheOnly else { return nil }
        return CacheLookUp(request, in: cache, policy: policy)
    }

    private final class NoTransfer: Transfer {
        func cancel() {}
        func resume() {}
    }
}
