import HTTPSemantics
import HTTPTransport
import HTTPTypes
import ResponseCache

// The three ends of a download: its body is complete, it has failed, or no caller waits for it.
extension DownloadMachine {
    /// Completes the body: decodes continue, and callers can join them until one has been answered.
    mutating func receive(_ id: ID) {
        guard let index = downloads.index(of: id) else { return }
        downloads.states[index].phase = .received
        keepSlots(of: downloads.states[index].callers)
        callers.removeByteCallers(from: &downloads.states[index].callers)
        emit(.receive(id))
        let remaining = downloads.states[index].callers
        if remaining.hasHadByteCallers, !remaining.isEmpty { stopSharing(id) }
        closeIfUnwanted(id)
    }

    /// Fails a download without further attempts; `holdsSlot` indicates whether its transfer has not ended.
    mutating func fail(_ id: ID, _ error: ImageError, holdsSlot: Bool) {
        guard let index = downloads.index(of: id) else { return }
        stopSharing(id)
        leaveQueues(id)
        emit(.fail(id, error, keepsBeginning: keepsBeginning(of: downloads.states[index])))
        downloads.states[index].phase = .draining(holdsSlot: holdsSlot)
        callers.removeByteCallers(from: &downloads.states[index].callers)
        closeIfUnwanted(id)
    }

    /// Stops a download without callers in any phase.
    mutating func close(_ id: ID) {
        guard let index = downloads.index(of: id) else { return }
        stopSharing(id)
        switch downloads.states[index].phase {
        case .queued, .backingOff:
            leaveQueues(id)
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

    /// Removes a download that waits for a slot or a lookup.
    private mutating func leaveQueues(_ id: ID) {
        queue.remove(id)
        lookups?.remove(id)
        withdraw(id)
    }

    /// Releases what a transfer or a lookup occupies in its queue.
    mutating func endTransfer(_ id: ID) {
        queue.release(id)
        lookups?.release(id)
        if !slotsInUse.isEmpty { slotsInUse[id] = nil }
    }

    /// Handles the end of the transfer of a finished download.
    mutating func releaseSlot(_ id: ID) {
        endTransfer(id)
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
        // First, so that the end of the transfer is not taken for the reason.
        let stopped = callers.callers(of: downloads.states[index].callers)
        for caller in stopped { emit(.answer(caller, error)) }
        for caller in stopped { leave(caller.id) }
    }

    mutating func stopAll(_ error: any Error) {
        for id in downloads.ids { stop(id, error) }
    }

    // MARK: Beginnings

    /// Returns whether the partial body of an unfinished download is kept for the next request.
    private func keepsBeginning(of download: State) -> Bool {
        guard download.attempts > 0, configuration.maximumResumableBytes > 0,
            download.key.cachePolicy.keepsBeginnings
        else { return false }
        let fields = configuration.headerFields.overridden(by: download.key.headerFields)
        return !CacheControl(fields, isRequest: true).noStore
    }

    mutating func keep(_ resumption: Resumption, for key: FetchKey) {
        let head = resumption.head
        guard CacheControl(head.response.headerFields).allowsStoring(head.status.code) else { return }
        interrupted.insert(resumption, for: key)
    }
}

extension HTTPFields {
    /// Returns these fields, with those of the same name replaced by `others`.
    func overridden(by others: HTTPFields) -> HTTPFields {
        guard !others.isEmpty else { return self }
        var fields = self
        for field in others { fields[values: field.name] = [] }
        for field in others { fields.append(field) }
        return fields
    }
}
