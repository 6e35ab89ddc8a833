/// The sockets that a system poller watches, and those whose events somebody waits for.
///
/// A pure value: it returns what the system poller has to change.
package struct WatchTable: Sendable {
    /// What a socket is watched for.
    package struct Interest: OptionSet, Sendable {
        package static let readable = Interest(rawValue: 1)
        package static let writable = Interest(rawValue: 2)

        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }
    }

    /// A change to what the system poller watches.
    package struct Change: Equatable, Sendable {
        package let descriptor: Int32
        /// What the events of this watch carry; see ``SocketEvent/number``.
        package let number: UInt32
        /// What the socket was watched for; empty if it was not.
        ///
        /// The kernel may have forgotten it since.
        package let old: Interest
        /// What it is watched for from now on; empty if it is not.
        package let new: Interest

        package init(descriptor: Int32, number: UInt32, old: Interest, new: Interest) {
            (self.descriptor, self.number, self.old, self.new) = (descriptor, number, old, new)
        }
    }

    /// What to do with an event.
    package enum Reaction: Equatable, Sendable {
        /// Somebody waits for it.
        case deliver
        /// It belongs to an earlier socket with the same descriptor.
        case ignore
        /// Nobody waits for it: without the change it would be reported again and again.
        case stopWatching(Change)
    }

    /// What is known of one descriptor.
    private struct Watch {
        var number: UInt32 = 0
        /// What the system poller watches it for.
        var registered: Interest = []
        /// A Boolean value that indicates whether somebody waits for its events.
        var isWanted = false
        /// A Boolean value that indicates whether its opening and closing are announced, so that the system poller
        /// may keep watching it unwanted.
        var isConnection = false
    }

    /// The number of connections that are open.
    package private(set) var connectionCount = 0
    /// By descriptor: the kernel assigns the lowest free number, so there are no more than descriptors.
    private var watches: [Watch] = []
    private var lastNumber: UInt32

    /// An empty table; `lastNumber` is the number before the first one that it assigns.
    package init(lastNumber: UInt32 = 0) {
        self.lastNumber = lastNumber
    }

    /// Watches `descriptor` from now on, or for something else than before.
    package mutating func watch(_ descriptor: Int32, for interest: Interest) -> Change? {
        guard let index = addedIndex(of: descriptor) else { return nil }
        watches[index].isWanted = true
        return register(interest, at: index)
    }

    /// Nobody waits for the events of `descriptor` any longer.
    ///
    /// A connection remains watched until something happens on it: usually somebody waits for it again before that, and
    /// two system calls per request are saved.
    package mutating func forget(_ descriptor: Int32) -> Change? {
        guard let index = index(of: descriptor) else { return nil }
        watches[index].isWanted = false
        return watches[index].isConnection ? nil : register([], at: index)
    }

    /// `descriptor` is a connection from now on; ``connectionClosed(_:)`` follows.
    package mutating func connectionOpened(_ descriptor: Int32) {
        guard let index = addedIndex(of: descriptor) else { return }
        if !watches[index].isConnection { connectionCount += 1 }
        watches[index] = Watch(isConnection: true)
    }

    /// `descriptor` is about to be closed; the kernel then stops watching it by itself.
    package mutating func connectionClosed(_ descriptor: Int32) {
        guard let index = index(of: descriptor) else { return }
        if watches[index].isConnection { connectionCount -= 1 }
        watches[index] = Watch()
    }

    /// Returns what to do with `event`.
    package mutating func reaction(to event: SocketEvent) -> Reaction {
        guard let index = index(of: event.descriptor), watches[index].number == event.number else { return .ignore }
        if watches[index].isWanted { return .deliver }
        return register([], at: index).map { .stopWatching($0) } ?? .ignore
    }

    private mutating func register(_ interest: Interest, at index: Int) -> Change? {
        let old = watches[index].registered
        guard old != interest else { return nil }
        if old.isEmpty { watches[index].number = nextNumber() }
        watches[index].registered = interest
        return Change(
            descriptor: Int32(truncatingIfNeeded: index), number: watches[index].number, old: old, new: interest)
    }

    /// Numbers repeat only after four billion watches; 0 belongs to descriptors that have never been watched.
    private mutating func nextNumber() -> UInt32 {
        lastNumber &+= 1
        if lastNumber == 0 { lastNumber = 1 }
        return lastNumber
    }

    private func index(of descriptor: Int32) -> Int? {
        watches.indices.contains(Int(descriptor)) ? Int(descriptor) : nil
    }

    private mutating func addedIndex(of descriptor: Int32) -> Int? {
        guard descriptor >= 0 else { return nil }
        while watches.count <= Int(descriptor) { watches.append(Watch()) }
        return Int(descriptor)
    }
}
