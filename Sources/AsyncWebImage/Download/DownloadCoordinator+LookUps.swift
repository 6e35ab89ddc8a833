import ResponseCache

// What the response cache can answer needs no slot: it is looked for, and served, before there is one.
extension DownloadCoordinator {
    /// Asks the response cache, which answers with a message.
    func lookUp(_ download: Download, timeLimit: Duration?) {
        route(of: download).decide(request(of: download, timeLimit: timeLimit)) { [id = download.id] decision in
            self.post(.decided(id, decision, timeLimit: timeLimit))
        }
    }

    /// Carries out what needs no network; returns what the machine has to hear of everything else.
    func decided(
        _ id: Download.ID, _ decision: CacheDecision, timeLimit: Duration?
    ) -> DownloadMachine.Event? {
        guard let download = downloads[id], download.log.end == nil else { return .transferEnded(id, .cancelled) }
        guard decision.isLocal else { return .notServed(id, decision) }
        download.events?.send(.started(attempt: 1))
        run(download, timeLimit: timeLimit, continuing: nil, decision)
        return nil
    }

    /// Where the responses of a download come from.
    func route(of download: Download) -> ResponseRoute {
        ResponseRoute(transport: transport, cache: responseCache, policy: download.key.cachePolicy, hooks: hooks)
    }
}
