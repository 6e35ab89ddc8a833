// What the response cache can answer needs no slot: it is looked for, and served, before there is one.
extension DownloadCoordinator {
    /// Most downloads at a time that are looked for or served.
    static let lookUpLimit = 8

    /// Puts a new download in line for a look-up; false if it needs none, or cannot have one.
    func enqueueLookUp(of download: Download) -> Bool {
        // What a modifier makes of the request is not known before it is sent.
        guard lookUps != nil, configuration.requestModifier == nil, download.key.mayBeServed else { return false }
        let (id, host, priority) = (download.id, download.key.url.host, download.priority)
        if hasRoom, lookUps?.admit(id, host: host, priority: priority) == true {
            lookUp(download)
        } else {
            lookUps?.enqueue(id, host: host, priority: priority, sequence: download.sequence)
        }
        return true
    }

    func startLookUps() {
        guard lookUps != nil else { return }
        while hasRoom, let id = lookUps?.next() {
            if let download = downloads[id] { lookUp(download) }
        }
    }

    private func lookUp(_ download: Download) {
        let result = LookUpResult()
        download.state = .lookingUp(result)
        run(download, continuing: nil, over: cachingTransport(of: download, reach: .cache(result)))
    }

    /// Whether a look-up was all that is needed; if not, the download waits for a slot.
    func endsWithLookUp(_ download: Download, _ result: LookUpResult) -> Bool {
        if let value = result.value {
            download.isMissing = value == .missing
            pauseTime(of: download)
            enqueue(download)
            return false
        }
        // It counts as the first attempt.
        download.state = .running
        download.attempts = 1
        if download.log.source == .network { download.events?.send(.started(attempt: 1)) }
        return true
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

extension FetchKey {
    /// Whether there may be a stored response that answers it without the network.
    fileprivate var mayBeServed: Bool {
        switch cachePolicy {
        case .cacheOnly: true
        case .useProtocol, .cacheElseLoad: !isConditional && !handlesCookies && headerFields[.range] == nil
        case .reload, .revalidate, .noStore: false
        }
    }
}
