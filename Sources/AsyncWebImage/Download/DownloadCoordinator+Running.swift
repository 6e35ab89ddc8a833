import HTTPTransport
import HTTPTypes
import Logging

// Downloads start, end and settle.
extension DownloadCoordinator {
    func start(_ download: Download) {
        download.state = .running
        let request = TransportRequest(
            url: download.key.url,
            headerFields: configuration.headerFields.overridden(by: download.key.headerFields),
            credential: download.key.credential,
            deadlines: configuration.deadlines,
            bodyLimit: configuration.bodyLimit,
            redirectLimit: configuration.redirectLimit)
        let receiver = DownloadReceiver(url: download.key.url, log: download.log) { [id = download.id] in
            self.post(.transferEnded(id))
        }
        let transfer = transport.start(request, receiver: receiver)
        download.log.attach(transfer)
        download.transfer = transfer
    }

    func transferEnded(_ id: Download.ID) {
        if let download = downloads[id] { settle(download) }
        queue.release(id)
    }

    /// The transfer has ended: those who wait for the bytes have their answer, decodes end by themselves.
    func settle(_ download: Download) {
        download.transfer = nil
        download.log.answerCollectors()
        for subscriber in download.removeSubscribers(of: nil) { locations[subscriber.id] = nil }
        switch download.log.end {
        case .success((_, let metrics))?:
            download.state = .received
            logger.debug("downloaded", metadata: ["url": "\(download.key.url)", "bytes": "\(metrics.bodyBytes)"])
        case .failure(let error)?:
            // Decodes hear of it through the log; nobody shall join a failure.
            forget(download)
            logger.debug("download failed", metadata: ["url": "\(download.key.url)", "error": "\(error)"])
        case nil:
            return
        }
        if download.subscribers.isEmpty { abandon(download) }
    }

    /// Nobody waits for the download any more: it stops wherever it is.
    func abandon(_ download: Download) {
        forget(download)
        downloads[download.id] = nil
        for decode in download.decodes.values { decode.task.cancel() }
        download.decodes = [:]
        download.state = .abandoned
        queue.remove(download.id)
        download.transfer?.cancel()
    }

    /// Callers can join the download no longer; another may have taken its place already.
    func forget(_ download: Download) {
        if joinable[download.key] === download { joinable[download.key] = nil }
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
