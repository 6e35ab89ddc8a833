import HTTPTypes
import ResponseCache

// Changes while downloads are active. Earlier requests are processed before a change.
extension DownloadCoordinator {
    /// Prevents further downloads from starting: active downloads finish, and others wait.
    public func suspend() {
        immediateResponses?.setSuspended(true)
        turn(.suspend)
    }

    /// Lets downloads start again, regardless of how often ``suspend()`` has been called.
    public func resume() {
        immediateResponses?.setSuspended(false)
        turn(.resume)
    }

    /// Stops every download, active or waiting: each caller gets a `CancellationError`.
    ///
    /// Later requests are processed normally, or wait if downloads are suspended. Decoded images stay in the cache.
    public func cancelAll() {
        turn()
        for caller in fileLookups.callers { caller.fail(CancellationError()) }
        turn(.cancelAll)
    }

    /// Drops the partial bodies of a response.
    func forget(_ key: FetchKey) { turn(.forget(key)) }

    /// Changes the configuration of downloads: concurrency, order, rate, header fields, deadlines, and limits.
    ///
    /// The order, higher concurrency, the retry policy, ``DownloadConfiguration/maximumBytesInFlight``, and a lower
    /// ``DownloadConfiguration/maximumResumableBytes`` take effect immediately; lower concurrency takes effect as
    /// downloads end. `deadlines.total` and ``DownloadConfiguration/maximumReplayBytes`` apply to downloads that are
    /// requested from now on, and other settings to attempts that start from now on, including retries of active
    /// downloads. The number of connections that the transport keeps does not change.
    ///
    /// New requests do not share downloads that were started before a change of the header fields. Cached images stay
    /// in the cache.
    ///
    /// ```swift
    /// await loader.coordinator.configure { $0.executionOrder = .lifo }
    /// ```
    public func configure(_ change: @Sendable (inout DownloadConfiguration) -> Void) {
        var configuration = current { $0.configuration }
        change(&configuration)
        turn(.configure(configuration))
    }

    /// Applies the machine's configuration to the coordinator and to the limit on bytes in flight.
    func apply(_ configuration: DownloadConfiguration) {
        self.configuration = configuration
        bytesInFlight.setLimit(
            configuration.maximumBytesInFlight,
            transfers: configuration.slots
                + (environment.responseCache == nil ? 0 : DownloadMachine.maximumConcurrentLookups))
        bytesInFlight.letBodiesGrow()
    }
}
