/// All waiting callers, each of one download.
///
/// The only record of the callers of each download, their priorities, and the decodes they wait for.
struct CallerTable {
    /// The callers of one download.
    struct Group {
        /// The first caller; there is usually no other, so that no array is needed.
        fileprivate var first: Subscriber.ID?
        fileprivate var others: [Subscriber.ID] = []
        /// The number of callers of each priority.
        fileprivate var priorities: [5 of Int] = [0, 0, 0, 0, 0]
        /// The number of callers that are limited elsewhere.
        fileprivate var limitedElsewhere = 0
        /// The number of callers that wait only for the bytes.
        fileprivate(set) var byteCallers = 0
        /// A Boolean value that indicates whether there has been such a caller, which may have its answer already.
        fileprivate(set) var hasHadByteCallers = false

        var isEmpty: Bool { first == nil }
        var count: Int { first == nil ? 0 : others.count + 1 }
        /// A Boolean value that indicates whether there are callers, all of whom are limited elsewhere.
        var isLimitedElsewhere: Bool { !isEmpty && limitedElsewhere == count }

        /// The highest priority of the callers.
        var priority: DownloadPriority {
            DownloadPriority.descending.first { priorities[$0.rawValue] > 0 } ?? .veryLow
        }

        fileprivate subscript(position: Int) -> Subscriber.ID? { position == 0 ? first : others[position - 1] }
    }

    /// One caller.
    struct Entry {
        var caller: Subscriber
        let download: DownloadMachine.ID
        /// The decode that the caller waits for; `nil` for only the bytes.
        let decode: DownloadMachine.DecodeID?
        /// The position in the group.
        fileprivate var position: Int
    }

    private var entries: [Subscriber.ID: Entry] = [:]

    var count: Int { entries.count }
    /// The number of callers with a slot.
    private var slotCount = 0
    /// A Boolean value that indicates whether there are callers with slots.
    var haveSlots: Bool { slotCount > 0 }

    /// Returns the download that a caller waits for.
    func download(of id: Subscriber.ID) -> DownloadMachine.ID? { entries[id]?.download }

    /// Returns a waiting caller.
    func caller(_ id: Subscriber.ID) -> Subscriber? { entries[id]?.caller }

    /// Adds a caller with a unique identity.
    mutating func insert(
        _ caller: Subscriber, of download: DownloadMachine.ID, decode: DownloadMachine.DecodeID?,
        into group: inout Group
    ) {
        entries[caller.id] = Entry(caller: caller, download: download, decode: decode, position: group.count)
        if group.first == nil { group.first = caller.id } else { group.others.append(caller.id) }
        group.priorities[caller.priority.rawValue] += 1
        if caller.slot != nil { slotCount += 1 }
        if caller.isLimitedElsewhere { group.limitedElsewhere += 1 }
        if decode == nil {
            group.byteCallers += 1
            group.hasHadByteCallers = true
        }
    }

    mutating func remove(_ id: Subscriber.ID, from group: inout Group) -> Entry? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        group.priorities[entry.caller.priority.rawValue] -= 1
        if entry.caller.slot != nil { slotCount -= 1 }
        if entry.caller.isLimitedElsewhere { group.limitedElsewhere -= 1 }
        if entry.decode == nil { group.byteCallers -= 1 }
        // The last one takes its position.
        guard let last = group.others.popLast() else {
            group.first = nil
            return entry
        }
        guard last != id else { return entry }
        if entry.position == 0 { group.first = last } else { group.others[entry.position - 1] = last }
        entries[last]?.position = entry.position
        return entry
    }

    /// Removes the callers of one decode or, for `nil`, those of only the bytes, and returns them unordered.
    mutating func removeAll(of decode: DownloadMachine.DecodeID?, from group: inout Group) -> [Subscriber] {
        var removed: [Subscriber] = []
        // From the end: the element that replaces a removed one has been processed.
        for position in (0..<group.count).reversed() {
            guard let id = group[position], entries[id]?.decode == decode, let entry = remove(id, from: &group) else {
                continue
            }
            removed.append(entry.caller)
        }
        return removed
    }

    /// Removes the callers of only the bytes.
    mutating func removeByteCallers(from group: inout Group) {
        for position in (0..<group.count).reversed() where group.byteCallers > 0 {
            // In place, because a subscript with the identity copies the entry.
            guard let id = group[position], let index = entries.index(forKey: id),
                entries.values[index].decode == nil
            else { continue }
            _ = remove(id, from: &group)
        }
    }

    mutating func setPriority(_ priority: DownloadPriority, of id: Subscriber.ID, in group: inout Group) {
        guard let old = entries[id]?.caller.priority else { return }
        group.priorities[old.rawValue] -= 1
        group.priorities[priority.rawValue] += 1
        entries[id]?.caller.priority = priority
    }

    /// Returns the callers of a group, unordered.
    func callers(of group: Group) -> [Subscriber] {
        (0..<group.count).compactMap { position in group[position].flatMap { entries[$0] }?.caller }
    }

    /// Returns the slots of the callers of a group, of which one is enough for a transfer; `nil` if a caller needs none.
    func slots(of group: Group) -> [LoadSlot]? {
        var slots: [LoadSlot] = []
        for position in 0..<group.count {
            guard let id = group[position], let index = entries.index(forKey: id) else { continue }
            guard let slot = entries.values[index].caller.slot, !slot.isEnded else { return nil }
            slots.append(slot)
        }
        return slots
    }

    /// Returns whether a group has a caller that lets its download finish after a shutdown.
    func finishesOnShutdown(_ group: Group) -> Bool { callers(of: group).contains { $0.finishesOnShutdown } }
}

extension Subscriber {
    /// A Boolean value that indicates whether the number of such callers is limited elsewhere: by a load group, or
    /// by the maximum number of waiting refreshes.
    fileprivate var isLimitedElsewhere: Bool { slot != nil || isRefresher }
}
