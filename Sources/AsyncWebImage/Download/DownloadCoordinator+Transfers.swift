import HTTPTransport
import Logging
import ResponseCache

// Sending requests and ending bodies.
extension DownloadCoordinator {
    /// Sends the request of an attempt, which can continue an earlier one; the cache is asked first, unless it has
    /// a response that needs no network.
    func transfer(
        _ download: Download, _ attempt: DownloadMachine.Attempt, continuing resumption: Resumption? = nil,
        _ decision: CacheDecision? = nil
    ) {
        download.events?.send(.started(attempt: attempt.number))
        run(download, timeLimit: attempt.timeLimit, continuing: resumption, decision, isRetry: attempt.number > 1)
    }

    /// Returns the request of a download, without range fields.
    func request(of download: Download, timeLimit: Duration?) -> TransportRequest {
        var request = configuration.request(for: download.key)
        request.deadlines.total = timeLimit
        #if Tracing
        download.span?.inject(into: &request.headerFields)
        #endif
        return request
    }

    /// Sends the request, or lets the cache answer it.
    func run(
        _ download: Download, timeLimit: Duration?, continuing continued: Resumption?, _ decision: CacheDecision?,
        isRetry: Bool = false
    ) {
        // A body can have been discarded while its next attempt waited.
        let held = download.log.beginAttempt()
        let continued = continued.flatMap { $0.stored != nil || $0.offset == held ? $0 : nil }
        var request = request(of: download, timeLimit: timeLimit)
        continued?.add(to: &request.headerFields)
        let receiver = receiver(of: download, continuing: continued)
        download.receiver = receiver
        let transfer = route(of: download).start(request, decision, isRetry: isRetry, receiver: receiver)
        download.log.attach(transfer)
        download.transfer = transfer
    }

    /// Returns a receiver that takes one response and calls ``transferEnded(_:)`` when the transfer has ended.
    func receiver(of download: Download, continuing continued: Resumption?) -> DownloadReceiver {
        DownloadReceiver(
            url: download.key.url, log: download.log, rules: rules.with(download.key.transfer), continuing: continued,
            isTransformed: hooks?.transform != nil, isOfSource: download.key.source != nil,
            isConditional: download.key.isConditional,
            isPartRequested: download.key.headerFields[.range] != nil, events: download.events
        ) { [id = download.id] in
            self.transferEnded(id)
        }
    }

    /// Waits before the next attempt; returns the resumption with which that can continue.
    func backOff(
        _ download: Download, until end: Stopwatch.Instant, delay: Duration, because error: ImageError
    ) -> Resumption? {
        download.log.discardIfOverBudget()
        download.events?.send(.retrying(after: delay, because: error))
        environment.logger.debug(
            "retrying download",
            metadata: ["url": "\(environment.recorded(download.key))", "error": "\(error)", "delay": "\(delay)"])
        // Belongs to no caller's task.
        download.pause = Task.detached { [clock = environment.clock, id = download.id] in
            // Canceled: no caller waits for the download anymore.
            guard (try? await clock.sleep(until: end, tolerance: nil)) != nil else { return }
            self.post(.event(.backoffElapsed(id)))
        }
        return download.receiver?.resumption(after: download.log.lastPosition)
    }

    /// Ends the body with an error, and cancels the transfer if it is still active.
    func fail(_ download: Download, _ error: ImageError) {
        download.pause?.cancel()
        // The end of a transfer that is still active only frees the slot.
        download.receiver = nil
        download.transfer?.cancel()
        download.transfer = nil
        download.log.finish(.failure(error))
        download.log.resumeBodyWaiters()
        sendEnd(of: download)
    }

    /// Stops a download in any phase; returns the data with which a later download can resume.
    ///
    /// `isOver` indicates whether the body has already ended; `keepsBeginning` whether a partial body is kept.
    func close(_ download: Download, isOver: Bool, keepsBeginning: Bool) -> Resumption? {
        var beginning: Resumption?
        if !isOver {
            // Releases the transfer, finished or not, which retains the log.
            let cancelled = TransportError(url: download.key.url.string, reason: .cancelled)
            download.log.finish(.failure(.transport(cancelled)))
            // The body can be complete although the end of the transfer has not been processed.
            if case .success? = download.log.end {
                sendEnd(of: download)
            } else if keepsBeginning {
                beginning = self.beginning(of: download)
            }
        }
        download.pause?.cancel()
        download.transfer?.cancel()
        download.events?.complete(.failure(CancellationError()))
        return beginning
    }

    /// Returns the partial body of an unfinished download; `nil` if it cannot be continued.
    func beginning(of download: Download) -> Resumption? {
        guard let receiver = download.receiver else { return nil }
        // A complete body whose end has not been handled yet is not a part.
        if case .success? = download.log.end { return nil }
        // More data, or another body, can arrive in the meantime.
        let beginning = download.log.beginning
        let end = beginning?.end ?? BodyPosition(restarts: 0, count: 0)
        guard var resumption = receiver.resumption(after: end) else { return nil }
        if resumption.stored == nil {
            guard resumption.offset == end.count else { return nil }
            resumption.stored = beginning?.pieces
        }
        return resumption
    }

    /// Reports the end of the body of a download.
    func sendEnd(of download: Download) {
        switch download.log.end {
        case .success(let delivery)?:
            let metrics = delivery.metrics
            download.events?.complete(.success(.init(byteCount: download.log.received, metrics: metrics)))
            environment.logger.debug(
                "downloaded",
                metadata: ["url": "\(environment.recorded(download.key))", "bytes": "\(metrics.bodyBytes)"])
        case .failure(let error)?:
            download.events?.complete(.failure(error))
            environment.logger.debug(
                "download failed", metadata: ["url": "\(environment.recorded(download.key))", "error": "\(error)"])
        case nil: break
        }
    }
}
