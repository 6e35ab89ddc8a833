import HTTPTransport
import Logging
import ResponseCache

// Actions of the machine.
extension DownloadCoordinator {
    /// Performs an action; returns an event that the machine must handle immediately.
    func perform(_ action: consuming DownloadMachine.Action) -> DownloadMachine.Event? {
        switch action {
        case .open(let id, let caller, let decode): open(id, caller, decode)
        case .decide(let id, let timeLimit):
            if let download = downloads[id] { lookup(download, timeLimit: timeLimit) }
        case .transfer(let id, let attempt):
            if let download = downloads[id] { transfer(download, attempt) }
        case .perform(let id, let attempt, let decision):
            guard let download = downloads[id] else { break }
            transfer(download, attempt, decision)
            return decision.needsRevalidation ? .refresh(refresher(of: download.key)) : nil
        case .resume(let id, let attempt, let resumption):
            if let download = downloads[id] { transfer(download, attempt, continuing: resumption) }
        case .backOff(let id, let end, let delay, let error):
            guard let download = downloads[id] else { break }
            return backOff(download, until: end, delay: delay, because: error).map { .resumable(id, $0) }
        case .receive(let id):
            guard let download = downloads[id] else { break }
            download.log.resumeBodyWaiters()
            removeImages(replacedBy: download)
            sendEnd(of: download)
        case .fail(let id, let error, let keepsBeginning):
            guard let download = downloads[id] else { break }
            let beginning = keepsBeginning ? beginning(of: download) : nil
            fail(download, error)
            return beginning.map { .keep($0, for: download.key) }
        case .close(let id, let isOver, let keepsBeginning):
            guard let download = downloads.removeValue(forKey: id) else { break }
            return close(download, isOver: isOver, keepsBeginning: keepsBeginning).map { .keep($0, for: download.key) }
        case .attach(let attachment):
            if !attach(attachment) { return .refused(attachment) }
        case .detach(let caller, let id, let decode): detach(caller, from: id, decode: decode)
        case .answer(let caller, let error): caller.fail(error)
        case .deliver(let decode, let callers, let id):
            return deliver(decode, to: callers, from: id)
        case .cancelDecode(let decode): removeDecode(decode)?.task.cancel()
        case .grant(let answer): answer.resolve(.success(()))
        case .announceRoom(let group, let hasRoom, let count): group.setRoom(hasRoom, considering: count)
        case .setAlarm(let kind, let time): alarm(kind).set(time)
        case .configure(let configuration): apply(configuration)
        case .beginShutdown: shutdownSignal.give()
        case .finishShutdown: finishShutdown()
        case .report(let event): environment.logger.error("\(event)")
        }
        return nil
    }

    private func open(_ id: Download.ID, _ caller: Subscriber, _ decode: DownloadMachine.DecodeID?) {
        let log = BodyLog(
            maximumReplayBytes: configuration.maximumReplayBytes, bytesInFlight: bytesInFlight,
            buffers: environment.buffers,
            pendingAnswers: pendingAnswers)
        #if Tracing
        let span = environment.tracing.map {
            DownloadSpan(
                $0, of: caller.key.url, recordsQuery: environment.recordsQueries, parent: caller.context)
        }
        let events = listeners.sender(for: id, caller.key.url, also: span?.note)
        #else
        let events = listeners.sender(for: id, caller.key.url)
        #endif
        let download = Download(
            id: id, key: caller.key, log: log, events: events, isRefresh: caller.isRefresher)
        #if Tracing
        download.span = span
        #endif
        events?.send(.queued(caller.priority))
        downloads[id] = download
        // Nothing of the body has been discarded, because it has not begun.
        _ = attach(caller, to: download, decode: decode, startsDecode: decode != nil)
    }

    // MARK: Callers

    private func attach(_ attachment: DownloadMachine.Attachment) -> Bool {
        guard let download = downloads[attachment.download] else { return false }
        // Other callers have their answer already, although the end of the transfer has not been processed.
        if attachment.isBeforeEnd, download.log.end != nil { return false }
        return attach(
            attachment.caller, to: download, decode: attachment.decode, startsDecode: attachment.startsDecode)
    }

    /// Returns `false` if the beginning of the body has been discarded.
    private func attach(
        _ caller: Subscriber, to download: Download, decode: DownloadMachine.DecodeID?, startsDecode: Bool
    ) -> Bool {
        caller.response?.attach(download.log)
        switch caller.product {
        case .data(let answer):
            if caller.expectedDigest != nil { break }
            return download.log.collect(for: answer, isJoined: caller.isJoined)
        case .bytes(let feed):
            let digest = (caller.expectedDigest?.algorithm).map(download.log.digest)
            guard let reader = download.log.makeReader(digest: digest) else { return false }
            feed.attach(reader, of: download.log, isJoined: caller.isJoined, expecting: caller.expectedDigest)
            return true
        case .info, .image, .previews, .animation, .animationFrames, .file: break
        }
        guard let decode, let variant = caller.variant else { return false }
        if startsDecode, !startDecode(decode, variant, of: download) { return false }
        decodes[decode]?.add(caller)
        checkHeader(of: decode, for: caller, download.log)
        return true
    }

    private func detach(_ caller: Subscriber, from id: Download.ID, decode: DownloadMachine.DecodeID?) {
        guard let download = downloads[id] else { return }
        download.log.stopWatching(caller.id)
        if let decode {
            decodes[decode]?.remove(caller.id)
        } else if case .data(let answer) = caller.product {
            download.log.removeBodyWaiter(for: answer)
        }
    }

    // MARK: Time

    private func alarm(_ kind: DownloadMachine.AlarmKind) -> Alarm<Stopwatch> {
        if let alarm = alarms[kind] { return alarm }
        let message: CoordinatorMessage =
            switch kind {
            case .rate: .rateAllowsStart
            case .deadline: .event(.deadlinePassed)
            case .gracePeriod: .event(.gracePeriodEnded)
            }
        let alarm = Alarm(clock: environment.clock) { [weak self] in self?.post(message) }
        alarms[kind] = alarm
        return alarm
    }
}
