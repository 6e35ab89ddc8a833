import ResponseCache

// Adding and removing callers.
extension DownloadMachine {
    /// Adds a caller to the download for its request, starting it if there is none.
    mutating func join(_ caller: Subscriber) {
        guard callers.download(of: caller.id) == nil else {
            emit(.answer(caller, CancellationError()))
            return reject("join", caller.id)
        }
        guard shutdown == nil else { return emit(.answer(caller, ImageError.shutDown)) }
        add(caller)
    }

    private mutating func add(_ caller: Subscriber) {
        if let slot = caller.slot { slots.note(slot) }
        if let id = joinable[caller.key] { attach(caller, to: id) } else { open(caller) }
    }

    /// Returns whether a caller of a product would share a decode that has begun.
    func isDecoding(_ variant: Variant, of key: FetchKey) -> Bool {
        guard let index = joinable[key].flatMap({ downloads.index(of: $0) }) else { return false }
        return downloads.states[index].decodes[variant] != nil
    }

    /// Lets callers that expect another body than a stored one request it from the origin, unless their policy forbids
    /// that: during a shutdown, only if one of them lets the download that they have shared finish.
    mutating func mismatched(_ mismatches: [Mismatch], isStored: Bool) {
        var reloading: [Subscriber] = []
        for mismatch in mismatches {
            if isStored, let caller = mismatch.caller.reloading {
                reloading.append(caller)
            } else {
                emit(.answer(mismatch.caller, mismatch.error))
            }
        }
        let isAllowed = shutdown == nil || reloading.contains { $0.finishesOnShutdown }
        for caller in reloading {
            if isAllowed { add(caller) } else { emit(.answer(caller, ImageError.shutDown)) }
        }
    }

    /// Starts to bring a stored response up to date, unless that is being done, or so many downloads wait already.
    ///
    /// It is a download like others, which callers can join, and which a shutdown stops. The next stale response that is
    /// served makes up for one that is not started.
    mutating func refresh(_ caller: Subscriber) {
        guard shutdown == nil, joinable[caller.key] == nil,
            waitingCount(of: caller.priority) < Self.maximumWaitingRefreshes, !refusesToWait(caller.priority)
        else { return }
        open(caller)
    }

    private mutating func open(_ caller: Subscriber) {
        let id = newDownloadID()
        var download = State(
            id: id, key: caller.key, sequence: caller.id, phase: .queued(.attempt),
            time: TimeAllowance(configuration.deadlines.total))
        let decode = caller.variant.map { variant in
            let decode = newDecodeID()
            decodes[decode] = Decode(download: id, variant: variant)
            download.decodes[variant] = decode
            return decode
        }
        callers.insert(caller, of: id, decode: decode, into: &download.callers)
        _ = downloads.insert(download)
        joinable[caller.key] = id
        emit(.open(id, caller, decode: decode))
        begin(id, caller)
    }

    private mutating func attach(_ caller: Subscriber, to id: ID) {
        guard let index = downloads.index(of: id) else { return reject("join", id) }
        var caller = caller
        caller.isJoined = true
        var attachment = Attachment(caller: caller, download: id)
        if let variant = caller.variant {
            if let decode = downloads.states[index].decodes[variant] {
                attachment.decode = decode
                decodes[decode]?.callers += 1
            } else {
                let decode = newDecodeID()
                decodes[decode] = Decode(download: id, variant: variant)
                downloads.states[index].decodes[variant] = decode
                (attachment.decode, attachment.startsDecode) = (decode, true)
            }
        } else if case .received = downloads.states[index].phase {
            // The body is complete: the caller is answered immediately.
            stopSharing(id)
            return emit(.attach(attachment))
        }
        if case .received = downloads.states[index].phase {
        } else {
            attachment.isBeforeEnd = downloads.states[index].callers.hasHadByteCallers
        }
        let wasLimitedElsewhere = downloads.states[index].callers.isLimitedElsewhere
        callers.insert(caller, of: id, decode: attachment.decode, into: &downloads.states[index].callers)
        emit(.attach(attachment))
        callerJoined(caller, id)
        if wasLimitedElsewhere, downloads.states[index].waitsForFirstSlot { startWait(of: id) }
        reprioritize(id)
    }

    /// Starts a new download for a caller that could not be attached.
    mutating func refused(_ attachment: Attachment) {
        let id = attachment.download
        stopSharing(id)
        if attachment.startsDecode, let decode = attachment.decode.flatMap({ decodes.removeValue(forKey: $0) }) {
            if let index = downloads.index(of: id) { downloads.states[index].decodes[decode.variant] = nil }
        }
        removeCaller(attachment.caller.id)
        var caller = attachment.caller
        caller.isJoined = false
        open(caller)
    }

    /// Removes a canceled caller; the last one stops the download.
    ///
    /// A caller that is not waiting has been answered already.
    mutating func leave(_ caller: Subscriber.ID) { removeCaller(caller) }

    /// Fails a caller that has waited for its result too long.
    mutating func timeOut(_ id: Subscriber.ID) {
        guard let caller = callers.caller(id) else { return }
        // First, so that the end of the transfer is not taken for the reason.
        emit(.answer(caller, caller.timeout))
        removeCaller(id)
    }

    mutating func prioritize(_ caller: Subscriber.ID, _ priority: DownloadPriority) {
        guard let id = callers.download(of: caller), let index = downloads.index(of: id) else { return }
        callers.setPriority(priority, of: caller, in: &downloads.states[index].callers)
        reprioritize(id)
    }

    private mutating func removeCaller(_ caller: Subscriber.ID) {
        guard let id = callers.download(of: caller), let index = downloads.index(of: id),
            let entry = callers.remove(caller, from: &downloads.states[index].callers)
        else { return }
        emit(.detach(entry.caller, from: id, decode: entry.decode))
        callerLeft(entry.caller, id)
        if let decode = entry.decode { leaveDecode(decode) }
        closeIfUnwanted(id)
    }

    /// Removes a caller of a decode; the last one cancels it.
    private mutating func leaveDecode(_ id: DecodeID) {
        guard var decode = decodes[id] else { return }
        decode.callers -= 1
        decodes[id] = decode
        guard decode.callers == 0 else { return }
        if let index = downloads.index(of: decode.download) { downloads.states[index].decodes[decode.variant] = nil }
        emit(.cancelDecode(id))
    }

    /// Removes a finished decode, and delivers its result to its callers.
    mutating func decodeEnded(_ decode: DecodeID, isSuccess: Bool) {
        guard let ended = decodes.removeValue(forKey: decode) else { return reject("decodeEnded", decode) }
        // No caller waits for a canceled decode: another of the same variant may have replaced it.
        guard ended.callers > 0, let index = downloads.index(of: ended.download) else { return }
        downloads.states[index].decodes[ended.variant] = nil
        let answered = callers.removeAll(of: decode, from: &downloads.states[index].callers)
        for caller in answered { if let slot = caller.slot { slots.keep(slot) } }
        // An error does not reveal the bytes; pixels do.
        if isSuccess { stopSharing(ended.download) }
        emit(.deliver(decode, to: answered, from: ended.download))
        closeIfUnwanted(ended.download)
    }

    /// Prevents further callers from joining the download; another download may already have replaced it.
    mutating func stopSharing(_ id: ID) {
        guard let index = downloads.index(of: id), let shared = joinable.index(forKey: downloads.states[index].key),
            joinable.values[shared] == id
        else { return }
        joinable.remove(at: shared)
    }

    /// Closes a download without callers; otherwise updates its priority to the highest of its callers.
    mutating func closeIfUnwanted(_ id: ID) {
        guard let index = downloads.index(of: id) else { return }
        if downloads.states[index].callers.isEmpty { close(id) } else { reprioritize(id) }
    }

    private mutating func reprioritize(_ id: ID) {
        guard let index = downloads.index(of: id) else { return }
        let priority = downloads.states[index].callers.priority
        queue.reprioritize(id, to: priority)
        lookups?.reprioritize(id, to: priority)
    }
}

extension Subscriber {
    /// The caller with a request that only the origin answers; `nil` if its policy does not allow that.
    fileprivate var reloading: Subscriber? {
        switch key.cachePolicy {
        case .useProtocol, .cacheElseLoad, .revalidate:
            var caller = self
            caller.key = key.with(.reload)
            caller.isJoined = false
            return caller
        case .reload, .cacheOnly, .noStore: return nil
        }
    }
}
