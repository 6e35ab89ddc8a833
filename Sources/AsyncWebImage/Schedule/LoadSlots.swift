import HeapModule

/// The slots of load groups: of each group, at most a number of elements is active at a time.
///
/// A pure value. Elements of a group get slots in order.
struct LoadSlots {
    /// The work that waits for the slot of an element.
    enum Waiter {
        case download(DownloadID)
        case work(OneShot<Void>)
    }

    private struct Group {
        let group: LoadGroup
        var taken: Set<Int> = []
        /// The elements that have their slot until they end.
        var kept: Set<Int> = []
        var waiters: [Int: Waiter] = [:]
        /// The numbers of waiting elements, including outdated ones.
        var queue = Heap<Int>()
        /// The first element that has not ended, and the later ones that have, if their order matters.
        var next = 0
        var ended: Set<Int> = []
        /// The open elements that are known.
        var known: Set<Int> = []
        /// The number of known elements that have not been announced.
        var unannounced = 0
        var announcedRoom = true

        func hasRoom(for number: Int) -> Bool {
            taken.count < group.limit || (group.isOrdered && number == next)
        }

        /// Removes and returns the first waiter if there is room for it.
        mutating func nextWaiter() -> (number: Int, waiter: Waiter)? {
            while let number = queue.min {
                if let waiter = waiters[number] {
                    guard hasRoom(for: number) else { return nil }
                    queue.removeMin()
                    waiters[number] = nil
                    return (number, waiter)
                }
                queue.removeMin()
            }
            return nil
        }

        mutating func add(_ waiter: Waiter, _ number: Int) {
            if waiters.updateValue(waiter, forKey: number) == nil { queue.insert(number) }
            // An element can wait and withdraw repeatedly while an earlier one waits.
            if queue.count > 64, queue.count > 4 * waiters.count { queue = Heap(waiters.keys) }
        }

        mutating func note(_ number: Int) {
            if known.insert(number).inserted { unannounced += 1 }
        }

        mutating func end(_ number: Int) {
            note(number)
            known.remove(number)
            taken.remove(number)
            kept.remove(number)
            waiters[number] = nil
            guard group.isOrdered else { return }
            ended.insert(number)
            while ended.remove(next) != nil { next += 1 }
        }
    }

    private var groups: [ObjectIdentifier: Group] = [:]
    /// The groups in which a waiter might get a slot.
    private var ready: Set<ObjectIdentifier> = []
    /// The groups whose room might have changed since the last announcement.
    private var changed: Set<ObjectIdentifier> = []
    private var hadFreeDownload = true

    /// A Boolean value that indicates whether there are no groups.
    var isEmpty: Bool { groups.isEmpty }

    /// Takes a slot for a transfer that is for the elements of all `slots`, of which one is enough; returns `false` if
    /// there is none.
    mutating func take(oneOf slots: [LoadSlot]) -> Bool {
        if slots.contains(where: { groups[ObjectIdentifier($0.group)]?.taken.contains($0.number) == true }) {
            return true
        }
        for slot in slots {
            let isTaken = change(slot.group) { group in
                guard group.hasRoom(for: slot.number) else { return false }
                group.taken.insert(slot.number)
                return true
            }
            if isTaken { return true }
        }
        return false
    }

    /// Notes that an element is open.
    mutating func note(_ slot: LoadSlot) {
        if !slot.isEnded { change(slot.group) { $0.note(slot.number) } }
    }

    /// Lets work wait for the slot of an element.
    mutating func add(_ waiter: Waiter, for slot: LoadSlot) {
        guard !slot.isEnded else { return }
        change(slot.group) { group in
            group.note(slot.number)
            group.add(waiter, slot.number)
        }
    }

    /// Ends the wait for the slot of an element.
    mutating func withdraw(_ slot: LoadSlot) {
        guard groups[ObjectIdentifier(slot.group)] != nil else { return }
        change(slot.group) { $0.waiters[slot.number] = nil }
    }

    /// Takes the slot of an element until its end, even beyond the limit.
    mutating func keep(_ slot: LoadSlot) {
        guard !slot.isEnded else { return }
        change(slot.group) { group in
            group.note(slot.number)
            group.taken.insert(slot.number)
            group.kept.insert(slot.number)
        }
    }

    /// Returns the slot of an element that does not keep it.
    mutating func giveBack(_ slot: LoadSlot) {
        guard groups[ObjectIdentifier(slot.group)] != nil else { return }
        change(slot.group) { if !$0.kept.contains(slot.number) { $0.taken.remove(slot.number) } }
    }

    /// Returns the slot of an element that has been processed.
    mutating func end(_ slot: LoadSlot) {
        change(slot.group) { $0.end(slot.number) }
    }

    /// Removes a group.
    mutating func remove(_ group: LoadGroup) {
        let id = ObjectIdentifier(group)
        groups[id] = nil
        ready.remove(id)
        changed.remove(id)
    }

    /// Removes and returns a waiter for which there is a slot; work has taken it, but a download takes it when it starts.
    mutating func nextWaiter() -> Waiter? {
        while let id = ready.first {
            guard let next = groups[id]?.nextWaiter() else {
                ready.remove(id)
                continue
            }
            changed.insert(id)
            if case .work = next.waiter {
                groups[id]?.taken.insert(next.number)
                groups[id]?.kept.insert(next.number)
            }
            return next.waiter
        }
        return nil
    }

    /// Returns the groups for which it has changed whether another element could become active, given whether another
    /// download could start, and the number of elements that have become known.
    mutating func changesOfRoom(hasFreeDownload: Bool) -> [(group: LoadGroup, hasRoom: Bool, count: Int)] {
        if hasFreeDownload != hadFreeDownload {
            hadFreeDownload = hasFreeDownload
            changed.formUnion(groups.keys)
        }
        guard !changed.isEmpty else { return [] }
        defer { changed = [] }
        return changed.compactMap { id in
            guard let group = groups[id] else { return nil }
            let hasRoom = hasFreeDownload && group.taken.count < group.group.limit && group.waiters.isEmpty
            guard hasRoom != group.announcedRoom || group.unannounced > 0 else { return nil }
            groups[id]?.announcedRoom = hasRoom
            groups[id]?.unannounced = 0
            return (group.group, hasRoom, group.unannounced)
        }
    }

    @discardableResult
    private mutating func change<Result>(_ group: LoadGroup, _ body: (inout Group) -> Result) -> Result {
        let id = ObjectIdentifier(group)
        ready.insert(id)
        changed.insert(id)
        return body(&groups[id, default: Group(group: group)])
    }
}
