// Changes while downloads are active.
extension DownloadMachine {
    mutating func setSuspended(_ isSuspended: Bool) {
        queue.isSuspended = isSuspended
        lookups?.isSuspended = isSuspended
    }

    mutating func configure(_ new: DownloadConfiguration) {
        let old = configuration
        configuration = new
        queue.limit = new.slots
        queue.limitPerHost = new.slotsPerHost
        queue.connectionsPerHost = new.connectionsPerHost
        queue.order = new.executionOrder
        lookups?.order = new.executionOrder
        queue.rateLimit = new.rateLimitPerHost
        interrupted.limit = new.maximumResumableBytes
        if new.headerFields != old.headerFields { shareOnlyWhatWaits() }
        emit(.configure(new))
    }

    /// Stops sharing of downloads whose response, or its beginning, can differ from that to a later request: their
    /// request has been sent, or the response cache has decided about it.
    private mutating func shareOnlyWhatWaits() {
        joinable = joinable.filter { _, id in
            switch downloads[id: id]?.phase {
            case .queued(.lookup), .queued(.attempt): true
            case .queued(.decided), .queued(.continuation): false
            case .deciding, .transferring, .backingOff, .received, .draining, nil: false
            }
        }
    }
}
