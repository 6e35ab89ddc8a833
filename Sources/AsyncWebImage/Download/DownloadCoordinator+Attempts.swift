import HTTPTransport
import Logging

// A download whose attempt failed may have another, and one that broke off may go on where it did.
extension DownloadCoordinator {
    /// Has the download tried again after a rest, outside of the queue and without a slot.
    ///
    /// Returns nil, or the error that ends the download if there will be no other attempt.
    func retry(_ download: Download, after error: ImageError) -> ImageError? {
        download.failures += 1
        guard error.isRetryable, let delay = configuration.retry?.delay(after: error, tries: download.failures) else {
            return error
        }
        guard hasTime(download, after: delay) else { return timeout(of: download, because: error) }
        download.log.forgetIfCrowded()
        download.resumption = download.receiver?.resumption(after: download.log.received)
        download.state = .resting
        download.events?.send(.retrying(after: delay, because: error))
        logger.debug(
            "trying again",
            metadata: ["url": "\(download.key.url)", "error": "\(error)", "delay": "\(delay)"])
        let id = download.id
        // The download itself waits, and belongs to no caller's task.
        download.rest = Task.detached { [clock] in
            // Cancelled: nobody waits for the download any more.
            guard (try? await clock.sleep(for: delay)) != nil else { return }
            self.post(.rested(id))
        }
        return nil
    }

    func endRest(_ id: Download.ID) {
        guard let download = downloads[id], case .resting = download.state else { return }
        download.rest = nil
        enqueue(download)
    }

    /// Where the next attempt may go on; nil to begin with the first byte.
    func continuation(of download: Download) -> Resumption? {
        defer { download.resumption = nil }
        guard hooks?.transform == nil, !download.startsFromZero, download.key.headerFields[.range] == nil else {
            return nil
        }
        if let resumption = download.resumption { return resumption }
        return download.attempts == 1 && !interrupted.isEmpty ? interrupted.take(download.key) : nil
    }

    /// Keeps what there is of a body that will not be finished now.
    func keepBeginning(of download: Download) {
        guard configuration.resumableLimit > 0, download.key.cachePolicy.keepsBeginnings,
            !CacheControl(headerFields(of: download), isRequest: true).noStore, let receiver = download.receiver
        else { return }
        // More may come meanwhile.
        let beginning = download.log.beginning
        let count = beginning?.reduce(0) { $0 + $1.count } ?? 0
        guard var resumption = receiver.resumption(after: count),
            CacheControl(resumption.head.response.headerFields).allowsStoring
        else { return }
        if resumption.stored == nil {
            guard resumption.offset == count else { return }
            resumption.stored = beginning
        }
        interrupted.insert(resumption, for: download.key)
    }
}
