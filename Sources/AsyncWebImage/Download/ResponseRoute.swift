import HTTPTransport
import ResponseCache

/// The path of the requests and responses of a download: through hooks and a cache to a transport, and back.
struct ResponseRoute {
    let transport: any Transport
    let cache: ResponseCache?
    let policy: CachePolicy
    let hooks: DownloadHooks?
    /// A Boolean value that indicates whether the caller revalidates stale responses after they have been served.
    var revalidatesLater = true

    /// Calls `then` with the decision of the cache about a request.
    func lookUp(_ request: TransportRequest, then: @escaping @Sendable (CacheDecision) -> Void) {
        ResponseCache.lookUp(request, in: cache, policy: policy, revalidatesLater: revalidatesLater, then: then)
    }

    /// Starts a transfer for a request; `decision` is the decision of the cache about it, if the cache was asked.
    ///
    /// A request with `isRetry` repeats a failed one, so that a remembered failure is of no use.
    ///
    /// If neither cache nor hooks take part, the transport delivers the response to `receiver` itself.
    func start(
        _ request: TransportRequest, _ decision: CacheDecision?, isRetry: Bool = false, receiver: DownloadReceiver
    ) -> any Transfer {
        guard hooks != nil || CachingResponder.isNeeded(for: request, cache, policy) else {
            return transport.start(request, receiver: receiver)
        }
        let network = NetworkResponder(transport, isUndecided: hooks?.validator != nil)
        var responder: any Responder = CachingResponder(
            cache, policy: policy, decision: decision, isRetry: isRetry, before: network)
        if CachingResponder.isNeeded(for: request, cache, policy) {
            responder = RedirectingResponder(before: responder)
        }
        if let hooks { responder = HookedResponder(hooks, before: responder, isWanted: receiver.accepts) }
        return PulledTransfer(request, to: responder, over: network, receiver: receiver)
    }
}
