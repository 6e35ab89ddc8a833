public import HTTPTypes
import ResponseCache

// What may be changed while downloads run. What was asked for before a call comes before it.
extension DownloadCoordinator {
    /// Lets no further download start; those that run finish, the others wait.
    public func suspend() { turn(.suspend) }

    /// Takes ``suspend()`` back, however often it was called.
    public func resume() { turn(.resume) }

    /// Stops every download, running or waiting: each caller gets a `CancellationError`.
    ///
    /// Requests made afterwards are served normally, or wait if downloads are suspended. Finished images stay in the cache.
    public func cancelAll() { turn(.cancelAll) }

    /// Changes how downloads are made: caps, order, rate, header fields, deadlines and limits.
    ///
    /// The order, higher caps and a lower ``DownloadConfiguration/resumableLimit`` take effect at once, lower caps as
    /// downloads end. The rest holds for downloads that start from now on. The transport keeps as many connections as it
    /// was made for.
    ///
    /// ```swift
    /// await loader.coordinator.configure { $0.executionOrder = .lifo }
    /// ```
    public func configure(_ change: @Sendable (inout DownloadConfiguration) -> Void) {
        var configuration = current { $0.configuration }
        change(&configuration)
        turn(.configure(configuration))
    }

    /// Sets a header field of all requests that start from now on; nil takes it away.
    ///
    /// Requests made from now on share no download that was started without it. Images that are cached stay; see
    /// ``MemoryCache/removeAll()``.
    public func setHeaderField(_ name: HTTPField.Name, to value: String?) {
        configure { $0.headerFields[name] = value }
    }

    /// Has the machine's configuration take effect on what is outside of it.
    func apply(_ configuration: DownloadConfiguration) {
        self.configuration = configuration
        bytesInFlight.setLimit(
            configuration.bytesInFlightLimit,
            transfers: configuration.slots + (responseCache == nil ? 0 : DownloadMachine.lookUpLimit))
        bytesInFlight.letBodiesGrow()
    }
}
