// What the response cache can answer needs no slot: it is looked for, and served, before there is one.
extension DownloadCoordinator {
    func lookUp(_ download: Download, timeLimit: Duration?) {
        let result = LookUpResult()
        download.lookUp = result
        run(
            download, timeLimit: timeLimit, continuing: nil,
            over: cachingTransport(of: download, reach: .cache(result)))
    }

    /// The end of a look-up that found no answer; nil if it was all that is needed, or none runs.
    func endOfLookUp(_ download: Download) -> DownloadMachine.Event? {
        guard let result = download.lookUp else { return nil }
        download.lookUp = nil
        if let value = result.value { return .notServed(download.id, isStored: value != .missing) }
        if download.log.source == .network { download.events?.send(.started(attempt: 1)) }
        return nil
    }

    func cachingTransport(of download: Download, reach: CachingTransport.Reach) -> CachingTransport {
        var events: DownloadEventSender?
        if case .cache = reach { events = download.events }
        return CachingTransport(
            transport: transport, cache: responseCache, policy: download.key.cachePolicy, reach: reach
        ) { [log = download.log, events] source in
            log.note(source)
            // Without the network, only what is served has a source.
            events?.send(.started(attempt: 1))
        }
    }
}
