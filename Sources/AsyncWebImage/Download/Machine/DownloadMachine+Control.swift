// Changes while downloads are active.
extension DownloadMachine {
    mutating func setSuspended(_ isSuspended: Bool) {
        queue.isSuspended = isSuspended
        lookUps?.isSuspended = isSuspended
    }

    mutating func configure(_ new: DownloadConfiguration) {
        let old = configuration
        configuration = new
        queue.limit = new.slots
        queue.hostLimit = new.slotsPerHost
        queue.order = new.executionOrder
        lookUps?.order = new.executionOrder
        queue.rateLimit = new.rateLimitPerHost
        interrupted.limit = new.resumableLimit
        if new.headerFields != old.headerFields { shareOnlyWhatWaits() }
        emit(.configure(new))
    }

    /// Stops sharing of sent requests, whose responses can differ from those of later requests.
    private mutating func shareOnlyWhatWaits() {
        joinable = joinable.filter { _, id in
            if case .queued? = downloads[id: id]?.phase { true } else { false }
        }
    }
}
