import HTTPTransport
import ResponseCache

// Requests that the response cache can answer need no slot: they are looked up and served first.
extension DownloadCoordinator {
    /// Returns the body of a stored response that can be read at once; `nil` if a download is required.
    nonisolated func storedData(for key: FetchKey) -> ResponseBody? {
        listeners.isObserved || isTraced || !key.usesResponseCache ? nil : immediateResponses?.data(for: key)
    }

    /// Starts a lookup in the response cache, which delivers a short response, or posts its decision.
    func lookup(_ download: Download, timeLimit: Duration?) {
        let receiver = receiver(of: download, continuing: nil)
        download.receiver = receiver
        route(of: download).lookUp(request(of: download, timeLimit: timeLimit), receiver: receiver) {
            [id = download.id] decision in self.post(.event(.decided(id, decision)))
        }
    }

    /// Returns a caller that nobody waits for, which brings a stored response up to date.
    func refresher(of key: FetchKey) -> Subscriber {
        var refresher = Subscriber(
            id: newSubscriberID(), key: key.with(.revalidate), product: .data(OneShot()), priority: .low,
            finishesOnShutdown: false)
        refresher.isRefresher = true
        return refresher
    }

    /// Removes the decoded images of a response that a refresh has replaced, and keeps decodes of that response that
    /// end later from adding others.
    func removeImages(replacedBy download: Download) {
        guard download.isRefresh, [.network, .source].contains(download.log.source) else { return }
        let key = download.key
        environment.images.cache.removeAll { $0.fetch.hasSameResponse(as: key) }
        // Whether a download serves a stored response may not be known yet.
        for other in downloads.values where other.key.hasSameResponse(as: key) { other.isOutdated = true }
    }

    /// Returns the source of the responses of a download.
    func route(of download: Download) -> ResponseRoute {
        ResponseRoute(
            transport: environment.transport,
            cache: download.key.usesResponseCache ? environment.responseCache : nil,
            policy: download.key.cachePolicy, hooks: hooks, source: download.key.source,
            revalidatesLater: configuration.servesWhileRevalidating)
    }
}
