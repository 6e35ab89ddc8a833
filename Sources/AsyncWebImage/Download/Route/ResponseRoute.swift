import HTTPTransport
import ResponseCache

/// The path of the requests and responses of a download: through hooks and a cache to a transport, and back.
struct ResponseRoute {
    let transport: any Transport
    /// The response cache; `nil` if there is none, or it does not apply.
    let cache: ResponseCache?
    let policy: CachePolicy
    let hooks: DownloadHooks?
    /// The route to an image that is not fetched over HTTP.
    var source: SourceRoute?
    /// A Boolean value that indicates whether the caller revalidates stale responses after they have been served.
    var revalidatesLater = true

    /// Asks the cache about a request.
    ///
    /// A short response is delivered to `receiver` by the thread of the cache that has read it, like one that a transport
    /// delivers. In all other cases, `undelivered` is called with the decision.
    func lookUp(
        _ request: TransportRequest, receiver: DownloadReceiver,
        undelivered: @escaping @Sendable (CacheDecision) -> Void
    ) {
        let mayDeliver = hooks == nil
        ResponseCache.lookUp(request, in: cache, policy: policy, revalidatesLater: revalidatesLater) { decision in
            if mayDeliver, let (reply, body) = decision.completeReply, receiver.takes(reply, body) { return }
            undelivered(decision)
        }
    }

    /// Starts a transfer for a request; `decision` is the decision of the cache about it, if the cache was asked.
    ///
    /// A request with `isRetry` repeats a failed one, so that a remembered failure is of no use.
    ///
    /// If neither cache nor hooks take part, the transport delivers the response to `receiver` itself.
    func start(
        _ request: TransportRequest, _ decision: CacheDecision?, isRetry: Bool = false, receiver: DownloadReceiver
    ) -> any Transfer {
        guard hooks != nil || source != nil || CachingResponder.isNeeded(for: request, cache, policy) else {
            return transport.start(request, receiver: receiver)
        }
        if let decision, decision.isMiss, !isRetry, hooks == nil, source == nil, let cache,
            let transfer = StoringTransfer(request, cache, policy, over: transport, receiver: receiver)
        {
            return transfer
        }
        let network = NetworkResponder(source?.transport ?? transport, isUndecided: hooks?.validator != nil)
        var responder: any Responder = CachingResponder(
            cache, policy: policy, decision: decision, isRetry: isRetry, interest: network.interest,
            before: source?.responder(over: network) ?? network)
        // A redirect of a source is an error.
        if source == nil, CachingResponder.isNeeded(for: request, cache, policy) {
            responder = RedirectingResponder(before: responder)
        }
        if let hooks { responder = HookedResponder(hooks, before: responder, isWanted: receiver.accepts) }
        return PulledTransfer(request, to: responder, over: network, receiver: receiver)
    }
}
