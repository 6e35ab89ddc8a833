import HTTPSemantics
import HTTPTransport
import HTTPTypes
import ResponseCache

// The three ends of a download: its body is complete, there will be none, or nobody waits for it any longer.
extension DownloadMachine {
    /// The body is complete: decodes go on, and others may join them until somebody has an answer.
    mutating func receive(_ id: ID) {
        guard let index = downloads.index(of: id) else { return }
        downloads.states[index].phase = .received
        let hasByteCallers = downloads.states[index].callers.byteCallers > 0
        if hasByteCallers { callers.removeByteCallers(from: &downloads.states[index].callers) }
        emit(.receive(id))
        if hasByteCallers, !downloads.states[index].callers.isEmpty { stopSharing(id) }
        closeIfUnwanted(id)
    }

    /// There will be no other attempt; `holdsSlot` is whether a transfer has yet to end.
    mutating func fail(_ id: ID, _ error: ImageError, holdsSlot: Bool) {
        guard let index = downloads.index(of: id) else { return }
        stopSharing(id)
        queue.remove(id)
        lookUps?.remove(id)
        emit(.fail(id, error, keepsBeginning: keepsBeginning(of: downloads.states[index])))
        downloads.states[index].phase = .draining(holdsSlot: holdsSlot)
        callers.removeByteCallers(from: &downloads.states[index].callers)
        closeIfUnwanted(id)
    }

    /// Nobody waits for the download any more: it stops wherever it is.
    mutating func close(_ id: ID) {
        guard let index = downloads.index(of: id) else { return }
        stopSharing(id)
        switch downloads.states[index].phase {
        case .queued, .backingOff:
            queue.remove(id)
            lookUps?.remove(id)
            emit(.close(id, isOver: false, keepsBeginning: keepsBeginning(of: downloads.states[index])))
            downloads.remove(at: index)
        case .deciding, .transferring:
            emit(.close(id, isOver: false, keepsBeginning: keepsBeginning(of: downloads.states[index])))
            downloads.states[index].phase = .draining(holdsSlot: true)
        case .received, .draining(holdsSlot: false):
            emit(.close(id, isOver: true, keepsBeginning: false))
            downloads.remove(at: index)
        case .draining(holdsSlot: true):
            emit(.close(id, isOver: true, keepsBeginning: false))
        }
    }

    /// The transfer of a download that is over has ended.
    mutating func releaseSlot(_ id: ID) {
        queue.release(id)
        lookUps?.release(id)
        guard let index = downloads.index(of: id) else { return }
        if downloads.states[index].callers.isEmpty {
            downloads.remove(at: index)
        } else {
            downloads.states[index].phase = .draining(holdsSlot: false)
        }
    }

    /// Stops a download: all its callers get `error`.
    mutating func stop(_ id: ID, _ error: any Error) {
        guard let index = downloads.index(of: id) else { return }
        // First, so that nobody takes the end of the transfer for the reason.
        let stopped = callers.callers(of: downloads.states[index].callers)
        for caller in stopped { emit(.answer(caller, error)) }
        for caller in stopped { leave(caller.id) }
    }

    mutating func stopAll(_ error: any Error) {
        for id in downloads.ids { stop(id, error) }
    }

    // MARK: Beginnings

    /// Whether what has come of a body that is not finished is kept for the next request.
    private func keepsBeginning(of download: State) -> Bool {
        guard download.attempts > 0, configuration.resumableLimit > 0,
            download.key.cachePolicy.keepsBeginnings
        else { return false }
        let fields = configuration.headerFields.overridden(by: download.key.headerFields)
        return !CacheControl(fields, isRequest: true).noStore
    }

    mutating func keep(_ resumption: Resumption, for key: FetchKey) {
        guard CacheControl(resumption.head.response.headerFields).allowsStoring else { return }
        interrupted.insert(resumption, for: key)
    }
}

extension HTTPFields {
    /// These fields, with those of the same name replaced by `others`.
    func overridden(by others: HTTPFields) -> HTTPFields {
        guard !others.isEmpty else { return self }
        var fields = self
        for field in others { fields[values: field.name] = [] }
        for field in others { fields.append(field) }
        return fields
    }
}
