import HTTPTransport
import HTTPTypes
import Threading

/// One download's transport when there is a cache, or a policy that is about one: answers from the cache what the policy
/// lets it, and stores what comes over the other transport.
struct CachingTransport: Transport {
    let transport: any Transport
    let cache: ResponseCache?
    let policy: CachePolicy
    /// Is told where a response comes from, before its head is received.
    let note: @Sendable (ResponseSource) -> Void

    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        // Which cookies a jar will send is not known here, and so not whose response it will be.
        guard policy != .cacheOnly || cache != nil && !request.handlesCookies else {
            receiver.finish(.failed(.notCached(request)))
            return NoTransfer()
        }
        let isKept = request.method == .get && !request.handlesCookies
        // A part is no answer of its own, but may complete what is stored.
        let isWhole = request.headerFields[.range] == nil || request.asksForRest
        guard let cache, policy != .noStore, isKept && isWhole || policy == .cacheOnly else {
            note(.network)
            return transport.start(request, receiver: receiver)
        }
        let lookUp = CacheLookUp(request, in: cache, policy: policy)
        let transfer = CachingTransfer(lookUp, over: transport, note: note, receiver: receiver)
        transfer.start()
        return transfer
    }

    private final class NoTransfer: Transfer {
        func cancel() {}
        func resume() {}
    }
}

extension TransportError {
    static func notCached(_ request: TransportRequest) -> TransportError {
        TransportError(url: request.url.string, reason: .notCached)
    }
}
