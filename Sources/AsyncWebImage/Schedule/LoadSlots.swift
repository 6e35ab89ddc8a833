import DequeModule
import HeapModule

/// The slots of load groups: of each group, at most a number of elements is active at a time.
///
/// A pure value. Elements of a group get slots in order.
struct LoadSlots {
    /// The work that waits for the slot of an element.
    enum Waiter: Equatable {
        case download(DownloadID)
        case work(OneShot<Void>)

        /// A Boolean value that indicates whether the slot is taken as soon as there is one.
        fileprivate var isWork: Bool { if case .work = self { true } else { false } }

        static func == (left: Waiter, right: Waiter) -> Bool {
            switch (left, right) {
            case (.download(let left), .download(let right)): left == right
            case (.work(let left), .work(let right)): left === right
            case (.download, .work), (.work, .download): false
            }
        }
    }

    private struct Group {
        let group: LoadGroup
        var taken: Set<Int> = []
        /// The elements that have their slot until they end.
        var kept: Set<Int> = []
        /// The waiters for the slot of each element: several of its requests, or a request repeatedly, because several
        /// callers share it.
        var waiters: [Int: [Waiter]] = [:]
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

        /// Removes and returns the waiters of the first element that has any, if there is room for it.
        mutating func nextWaiters() -> [Waiter]? {
            while let number = queue.min {
                guard let first = waiters[number] else {
                    queue.removeMin()
                    continue
                }
                guard hasRoom(for: number) else { return nil }
                queue.removeMin()
                if first.contains(where: \.isWork) { return take(number) }
                waiters[number] = nil
                return first
            }
            return nil
        }

        mutating func add(_ waiter: Waiter, _ number: Int) {
            if waiters[number] == nil { queue.insert(number) }
            waiters[number, default: []].append(waiter)
            // An element can wait and withdraw repeatedly while an earlier one waits.
            if queue.count > 64, queue.count > 4 * waiters.count { queue = Heap(waiters.keys) }
        }

        mutating func remove(_ waiter: Waiter, _ number: Int) {
            guard let index = waiters[number]?.firstIndex(of: waiter) else { return }
            waiters[number]?.remove(at: index)
            if waiters[number]?.isEmpty == true { waiters[number] = nil }
        }

        /// Takes the slot of an element, until its end if it is for work; returns what has waited for it.
        mutating func take(_ number: Int) -> [Waiter] {
            taken.insert(number)
            let served = waiters.removeValue(forKey: number) ?? []
            if served.contains(where: \.isWork) { kept.insert(number) }
            return served
        }

        mutating func note(_ number: Int) {
            if known.insert(number).inserted { unannounced += 1 }
        }

        /// Ends an element; returns what has waited for its slot, and needs none anymore.
        mutating func end(_ number: Int) -> [Waiter] {
            note(number)
            known.remove(number)
            taken.remove(number)
            kept.remove(number)
            if group.isOrdered {
                ended.insert(number)
                while ended.remove(next) != nil { next += 1 }
            }
            return waiters.removeValue(forKey: number) ?? []
        }
    }

    private var groups: [ObjectIdentifier: Group] = [:]
    /// The groups in which a waiter might get a slot.
    private var ready: Set<ObjectIdentifier> = []
    /// The groups whose room might have changed since the last announcement.
    private var changed: Set<ObjectIdentifier> = []
    /// The waiters that can continue.
    private var served: Deque<Waiter> = []
    private var hadFreeDownload = true

    /// A Boolean value that indicates whether there are no groups.
    var isEmpty: Bool { groups.isEmpty }

    /// Takes a slot for a transfer that is for the elements of all `slots`, of which one is enough, and returns it; `nil`
    /// if there is none.
    mutating func take(oneOf slots: [LoadSlot]) -> LoadSlot? {
        if let slot = slots.first(where: { groups[ObjectIdentifier($0.group)]?.taken.contains($0.number) == true }) {
            return slot
        }
        for slot in slots {
            let waiters = change(slot.group) { $0.hasRoom(for: slot.number) ? $0.take(slot.number) : nil }
            guard let waiters else { continue }
            served += waiters
            return slot
        }
        return nil
    }

    /// Takes the slot of an element for a transfer that has begun, even beyond the limit.
    mutating func take(_ slot: LoadSlot) {
        if !slot.isEnded { served += change(slot.group) { $0.take(slot.number) } }
    }

    /// Notes that an element is open.
    mutating func note(_ slot: LoadSlot) {
        if !slot.isEnded { change(slot.group) { $0.note(slot.number) } }
    }

    /// Lets a waiter wait for the slot of an element, unless the element has it.
    mutating func add(_ waiter: Waiter, for slot: LoadSlot) {
        guard !slot.isEnded else { return served.append(waiter) }
        served += change(slot.group) { group in
            group.note(slot.number)
            group.add(waiter, slot.number)
            return group.taken.contains(slot.number) ? group.take(slot.number) : []
        }
    }

    /// Ends a wait for the slot of an element.
    mutating func withdraw(_ waiter: Waiter, for slot: LoadSlot) {
        guard groups[ObjectIdentifier(slot.group)] != nil else { return }
        change(slot.group) { $0.remove(waiter, slot.number) }
    }

    /// Takes the slot of an element until its end, even beyond the limit.
    mutating func keep(_ slot: LoadSlot) {
        guard !slot.isEnded else { return }
        served += change(slot.group) { group in
            group.note(slot.number)
            group.kept.insert(slot.number)
            return group.take(slot.number)
        }
    }

    /// Returns the slot of an element that does not keep it.
    mutating func giveBack(_ slot: LoadSlot) {
        guard groups[ObjectIdentifier(slot.group)] != nil else { return }
        change(slot.group) { if !$0.kept.contains(slot.number) { $0.taken.remove(slot.number) } }
    }

    /// Returns the slot of an element that has been processed.
    mutating func end(_ slot: LoadSlot) {
        served += change(slot.group) { $0.end(slot.number) }
    }

    /// Removes a group.
    mutating func remove(_ group: LoadGroup) {
        let id = ObjectIdentifier(group)
        groups[id] = nil
        ready.remove(id)
        changed.remove(id)
    }

    /// Removes and returns a waiter that can continue; work has taken its slot, but a download takes it when it starts.
    mutating func nextWaiter() -> Waiter? {
        while served.isEmpty, let id = ready.first {
            if let next = groups[id]?.nextWaiters() {
                changed.insert(id)
                served.append(contentsOf: next)
            } else {
                ready.remove(id)
            }
        }
        return served.popFirst()
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
