public import HTTPTypes

// What may be changed while downloads run. What was asked for before a call comes before it.
extension DownloadCoordinator {
    /// Lets no further download start; those that run finish, the others wait.
    public func suspend() {
        readInbox()
        setSuspended(true)
    }

    /// Takes ``suspend()`` back, however often it was called.
    public func resume() {
        readInbox()
        setSuspended(false)
        startNext()
    }

    func setSuspended(_ isSuspended: Bool) {
        queue.isSuspended = isSuspended
        lookUps?.isSuspended = isSuspended
    }

    /// Stops every download, running or waiting: each caller gets a `CancellationError`.
    ///
    /// Who asks afterwards is served as ever, or waits if downloads are suspended. Finished images stay in the cache.
    public func cancelAll() {
        readInbox()
        for download in Array(downloads.values) { stop(download, CancellationError()) }
    }

    /// Stops a download: all its callers get `error`.
    func stop(_ download: Download, _ error: any Error) {
        for subscriber in download.subscribers.values {
            // First, so that nobody takes the end of the transfer for the reason.
            subscriber.fail(error)
            remove(subscriber.id)
        }
    }

    /// Changes how downloads are made: caps, order, rate, header fields, deadlines and limits.
    ///
    /// The order, and higher caps, take effect at once; lower ones as downloads end. The rest holds for downloads that
    /// start from now on. The transport keeps as many connections as it was made for.
    ///
    /// ```swift
    /// await loader.coordinator.configure { $0.executionOrder = .lifo }
    /// ```
    public func configure(_ change: @Sendable (inout DownloadConfiguration) -> Void) {
        readInbox()
        let headerFields = configuration.headerFields
        change(&configuration)
        queue.limit = configuration.slots
        queue.hostLimit = configuration.slotsPerHost
        queue.order = configuration.executionOrder
        lookUps?.order = configuration.executionOrder
        queue.rateLimit = configuration.rateLimitPerHost
        bytesInFlight.setLimit(
            configuration.bytesInFlightLimit,
            transfers: configuration.slots + (lookUps == nil ? 0 : Self.lookUpLimit))
        bytesInFlight.letBodiesGrow()
        if configuration.headerFields != headerFields { shareOnlyWhatWaits() }
        startNext()
    }

    /// Sets a header field of all requests that start from now on; nil takes it away.
    ///
    /// Who asks from now on shares no download that was started without it. Images that are cached stay; see
    /// ``MemoryCache/removeAll()``.
    public func setHeaderField(_ name: HTTPField.Name, to value: String?) {
        configure { $0.headerFields[name] = value }
    }

    /// What has been sent already may be answered otherwise than what is sent now.
    private func shareOnlyWhatWaits() {
        joinable = joinable.filter { _, download in
            if case .waiting = download.state { true } else { false }
        }
    }
}
