import HTTPTransport
import HTTPTypes
import Logging

// Downloads start, end and settle.
extension DownloadCoordinator {
    /// Makes an attempt, which goes on where an earlier one broke off, if it can.
    func start(_ download: Download) {
        download.state = .running
        download.attempts += 1
        let continued = continuation(of: download)
        download.events?.send(.started(attempt: download.attempts))
        run(download, continuing: continued, over: transport(of: download))
    }

    private func transport(of download: Download) -> any Transport {
        guard responseCache != nil || download.key.cachePolicy == .cacheOnly else { return transport }
        let isLookedUp = download.isMissing && download.attempts == 1
        return cachingTransport(of: download, reach: isLookedUp ? .network : .everywhere)
    }

    /// Sends the request, or what is asked of a cache.
    func run(_ download: Download, continuing continued: Resumption?, over transport: any Transport) {
        var deadlines = configuration.deadlines
        deadlines.total = startTime(of: download)
        var request = TransportRequest(
            url: download.key.url,
            headerFields: headerFields(of: download),
            credential: download.key.credential,
            handlesCookies: download.key.handlesCookies,
            deadlines: deadlines,
            bodyLimit: configuration.bodyLimit,
            redirectLimit: configuration.redirectLimit,
            redirectPolicy: configuration.redirectPolicy)
        continued?.add(to: &request.headerFields)
        #if Tracing
        download.span?.inject(into: &request.headerFields)
        #endif
        let receiver = DownloadReceiver(
            url: download.key.url, log: download.log, rules: rules, continuing: continued,
            isTransformed: hooks?.transform != nil, isConditional: download.key.isConditional,
            events: download.events
        ) { [id = download.id] in
            self.post(.transferEnded(id))
        }
        download.receiver = receiver
        let transfer =
            hooks.map { HookedTransfer(request, over: transport, hooks: $0, receiver: receiver) as any Transfer }
            ?? transport.start(request, receiver: receiver)
        download.log.attach(transfer)
        download.transfer = transfer
    }

    /// What its requests say; the next attempt may add to that.
    func headerFields(of download: Download) -> HTTPFields {
        configuration.headerFields.overridden(by: download.key.headerFields)
    }

    func transferEnded(_ id: Download.ID) {
        queue.release(id)
        lookUps?.release(id)
        guard let download = downloads[id], let receiver = download.receiver else { return }
        download.transfer = nil
        let failure = receiver.failure
        if failure != nil { download.log.detach() }
        if case .lookingUp(let result) = download.state, !endsWithLookUp(download, result) { return }
        switch failure {
        case nil: settle(download)
        case .notContinued?:
            download.startsFromZero = true
            enqueue(download)
        case .failed(let error)?:
            guard let error = retry(download, after: error) else { return }
            keepBeginning(of: download)
            download.log.finish(.failure(error))
            settle(download)
        }
    }

    func enqueue(_ download: Download) {
        download.state = .waiting
        queue.enqueue(
            download.id, host: download.key.url.host, priority: download.priority, sequence: download.sequence)
    }

    /// There will be no other attempt: those who wait for the bytes have their answer, decodes end by themselves.
    func settle(_ download: Download) {
        download.log.answerCollectors()
        for subscriber in download.removeSubscribers(of: nil) { locations[subscriber.id] = nil }
        switch download.log.end {
        case .success((_, let metrics))?: noteReceived(download, metrics)
        case .failure(let error)?:
            // Decodes hear of it through the log; nobody shall join a failure.
            forget(download)
            download.events?.stop(error)
            logger.debug("download failed", metadata: ["url": "\(download.key.url)", "error": "\(error)"])
        case nil:
            return
        }
        if download.subscribers.isEmpty { abandon(download) }
    }

    private func noteReceived(_ download: Download, _ metrics: TransferMetrics) {
        download.state = .received
        download.events?.stop(nil, finished: .finished(byteCount: download.log.received, metrics: metrics))
        logger.debug("downloaded", metadata: ["url": "\(download.key.url)", "bytes": "\(metrics.bodyBytes)"])
    }

    /// Nobody waits for the download any more: it stops wherever it is.
    func abandon(_ download: Download) {
        forget(download)
        switch download.state {
        case .waiting, .lookingUp, .running, .resting:
            // Lets go of the transfer, be it over, which holds the log in turn.
            download.log.finish(.failure(.cancelled(download.key.url)))
            // All may have come, only that the end of the transfer has yet to be read.
            if case .success((_, let metrics))? = download.log.end {
                noteReceived(download, metrics)
            } else {
                keepBeginning(of: download)
            }
        case .received, .abandoned: break
        }
        downloads[download.id] = nil
        download.rest?.cancel()
        for decode in download.decodes.values { decode.task.cancel() }
        download.decodes = [:]
        download.state = .abandoned
        queue.remove(download.id)
        lookUps?.remove(download.id)
        download.transfer?.cancel()
        download.events?.stop(CancellationError())
    }

    /// Callers can join the download no longer; another may have taken its place already.
    func forget(_ download: Download) {
        if joinable[download.key] === download { joinable[download.key] = nil }
    }
}

extension ImageError {
    fileprivate static func cancelled(_ url: HTTPURL) -> ImageError {
        .transport(TransportError(url: url.string, reason: .cancelled))
    }
}

extension HTTPFields {
    /// These fields, with those of the same name replaced by `others`.
    fileprivate func overridden(by others: HTTPFields) -> HTTPFields {
        guard !others.isEmpty else { return self }
        var fields = self
        for field in others { fields[values: field.name] = [] }
        for field in others { fields.append(field) }
        return fields
    }
}
