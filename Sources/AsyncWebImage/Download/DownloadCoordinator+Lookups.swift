import HTTPTransport
import ResponseCache

// Requests that the response cache can answer need no slot: they are looked up and served first.
extension DownloadCoordinator {
    /// Returns the body of a stored response that can be read at once; `nil` if a download is required.
    nonisolated func storedData(for key: FetchKey) -> ImageData? {
        listeners.isObserved ? nil : immediateResponses?.data(for: key)
    }

    /// Starts a lookup in the response cache, which posts its result.
    ///
    /// A short response is delivered by the cache's thread that has read it, like one that a transport delivers.
    func lookup(_ download: Download, timeLimit: Duration?) {
        let receiver = hooks == nil ? receiver(of: download, continuing: nil) : nil
        download.receiver = receiver
        route(of: download).lookUp(request(of: download, timeLimit: timeLimit)) {
            [id = download.id, log = download.log, events = download.events] decision in
            guard let receiver, let stored = decision.completeReply, log.takesBytes else {
                return self.post(.decided(id, decision, timeLimit: timeLimit))
            }
            events?.send(.started(attempt: 1))
            let reply = stored.reply
            receiver.receive(reply.head, from: reply.source, length: stored.body.count)
            // As with a transport, a piece has bytes.
            switch stored.body.isEmpty ? .more : receiver.receive(whole: stored.body) {
            case .more: receiver.finish(.complete(TransferMetrics()))
            case .stop: receiver.finish(.stopped(TransferMetrics()))
            // Something else has filled the memory in between.
            case .pause: self.post(.decided(id, decision, timeLimit: timeLimit))
            }
        }
    }

    /// Serves a response that needs no network; returns the event for the machine otherwise.
    func decided(
        _ id: Download.ID, _ decision: CacheDecision, timeLimit: Duration?
    ) -> DownloadMachine.Event? {
        guard let download = downloads[id], download.log.end == nil else { return .transferEnded(id, .cancelled) }
        guard decision.isLocal else { return .notServed(id, decision) }
        download.events?.send(.started(attempt: 1))
        run(download, timeLimit: timeLimit, continuing: nil, decision)
        return decision.needsRevalidation ? .refresh(refresher(of: download.key)) : nil
    }

    /// Returns a caller that nobody waits for, which brings a stored response up to date.
    private func refresher(of key: FetchKey) -> Subscriber {
        var refresher = Subscriber(
            id: newSubscriberID(), key: key.with(.revalidate), product: .data(OneShot()), priority: .low,
            finishesOnShutdown: false)
        refresher.isRefresher = true
        return refresher
    }

    /// Removes the decoded images of a response that a refresh has replaced, and keeps decodes of that response that
    /// end later from adding others.
    func removeImages(replacedBy download: Download) {
        guard download.isRefresh, download.log.source == .network else { return }
        let key = download.key
        cache.removeAll { $0.fetch.isEqualExceptForPolicy(to: key) }
        // Whether a download serves a stored response may not be known yet.
        for other in downloads.values where other.key.isEqualExceptForPolicy(to: key) { other.isOutdated = true }
    }

    /// Returns the source of the responses of a download.
    func route(of download: Download) -> ResponseRoute {
        var route = ResponseRoute(
            transport: transport, cache: responseCache, policy: download.key.cachePolicy, hooks: hooks)
        route.revalidatesLater = configuration.servesWhileRevalidating
        return route
    }
}
