// The slots of load groups, which downloads wait for outside of the queue.
extension DownloadMachine {
    /// Handles a change of the slot of one element.
    mutating func handle(_ signal: LoadGroup.Signal) {
        switch signal {
        case .take(let slot, let answer): if !answer.isResolved { slots.add(.work(answer), for: slot) }
        case .withdraw(let slot, let answer): slots.withdraw(.work(answer), for: slot)
        case .wait(let slot): slots.note(slot)
        case .keep(let slot): slots.keep(slot)
        case .end(let slot): slots.end(slot)
        case .endGroup(let group): slots.remove(group)
        }
    }

    /// Takes a slot for the transfer of a download, if one of its callers has none to wait for, or there is one.
    ///
    /// Otherwise, the download waits for it; returns `false`.
    mutating func takeSlot(for id: ID) -> Bool {
        guard let download = downloads[id: id], let needed = callers.slots(of: download.callers), !needed.isEmpty
        else { return true }
        if let slot = slots.take(oneOf: needed) {
            slotsInUse[id] = slot
            return true
        }
        for slot in needed { slots.add(.download(id), for: slot) }
        // Slots become free at the pace of others, for which the time limit of a download does not provide.
        pauseTime(of: id)
        parked.insert(id)
        return false
    }

    /// Lets the next waiter continue for which there is a slot; returns `false` if there is none.
    mutating func admitWaiter() -> Bool {
        switch slots.nextWaiter() {
        case .work(let answer): emit(.grant(answer))
        case .download(let id): enqueueParked(id)
        case nil: return false
        }
        return true
    }

    /// Returns the slots of callers while their download waits for its next attempt, unless other transfers use them, or
    /// the callers have received bytes: the memory that they use by then must not wait for the slots of others.
    mutating func giveBackSlots(of group: CallerTable.Group) {
        guard callers.haveSlots else { return }
        let waiting = callers.callers(of: group)
        for caller in waiting where caller.hasBegun { if let slot = caller.slot { slots.keep(slot) } }
        for slot in waiting.compactMap(\.slot) where !slotsInUse.values.contains(slot) { slots.giveBack(slot) }
    }

    /// Takes the slots of callers that get their results, until they have processed them.
    mutating func keepSlots(of group: CallerTable.Group) {
        guard callers.haveSlots else { return }
        for caller in callers.callers(of: group) {
            if let slot = caller.slot { slots.keep(slot) }
        }
    }

    /// Lets a waiting download use the slot of a further caller, or start without one if that needs none.
    mutating func callerJoined(_ caller: Subscriber, _ id: ID) {
        guard parked.contains(id) else { return }
        if let slot = caller.slot { slots.add(.download(id), for: slot) } else { enqueueParked(id) }
    }

    /// Lets a waiting download wait for the slots of its other callers only, and a transfer use one of theirs.
    mutating func callerLeft(_ caller: Subscriber, _ id: ID) {
        guard let slot = caller.slot else { return }
        if parked.contains(id) { return slots.withdraw(.download(id), for: slot) }
        guard slotsInUse[id] == slot, let download = downloads[id: id],
            let others = callers.slots(of: download.callers), let other = others.first, !others.contains(slot)
        else { return }
        slotsInUse[id] = other
        slots.take(other)
    }

    /// Returns a download to the queue that waits for a slot of its load group.
    private mutating func enqueueParked(_ id: ID) {
        guard parked.contains(id) else { return }
        withdraw(id)
        if let download = downloads[id: id] { enqueue(download) }
    }

    /// Ends the wait of a download for a slot of its load group.
    mutating func withdraw(_ id: ID) {
        guard parked.remove(id) != nil, let download = downloads[id: id] else { return }
        for caller in callers.callers(of: download.callers) {
            if let slot = caller.slot { slots.withdraw(.download(id), for: slot) }
        }
    }

    /// Tells load groups whether another of their elements could become active.
    mutating func announceRoom() {
        guard !slots.isEmpty else { return }
        for change in slots.changesOfRoom(hasFreeDownload: queue.hasFreeSlot) {
            emit(.announceRoom(change.group, change.hasRoom, considering: change.count))
        }
    }
}
