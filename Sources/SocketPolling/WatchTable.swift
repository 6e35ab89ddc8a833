/// The sockets that a system poller watches, and those whose events are wanted.
///
/// A pure value: it returns the changes for the system poller.
package struct WatchTable: Sendable {
    /// The events that a socket is watched for.
    package struct Interest: OptionSet, Sendable {
        package static let readable = Interest(rawValue: 1)
        package static let writable = Interest(rawValue: 2)

        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        package init(reads: Bool, writes: Bool) {
            rawValue = (reads ? 1 : 0) | (writes ? 2 : 0)
        }
    }

    /// A change of the watched events of one socket.
    package struct Change: Equatable, Sendable {
        package let descriptor: Int32
        /// The number carried by the events of this watch; see ``SocketEvent/number``.
        package let number: UInt32
        /// The events that the socket was watched for; empty if none.
        ///
        /// The kernel may have forgotten it since.
        package let old: Interest
        /// The events to watch from now on; empty if none.
        package let new: Interest

        package init(descriptor: Int32, number: UInt32, old: Interest, new: Interest) {
            (self.descriptor, self.number, self.old, self.new) = (descriptor, number, old, new)
        }
    }

    /// The reaction to an event.
    package enum Reaction: Equatable, Sendable {
        /// Deliver the event.
        case deliver
        /// Ignore the event, which belongs to an earlier socket with the same descriptor.
        case ignore
        /// Stop watching an unwanted event, which would otherwise be reported repeatedly.
        case stopWatching(Change)
    }

    /// The state of one descriptor.
    private struct Watch {
        var number: UInt32 = 0
        /// The events that the system poller watches.
        var registered: Interest = []
        /// A Boolean value that indicates whether its events are wanted.
        var isWanted = false
        /// A Boolean value that indicates whether its opening and closing are reported, so that the system poller can
        /// continue to watch it while its events are unwanted.
        var isConnection = false
    }

    /// The number of open connections.
    package private(set) var connectionCount = 0
    /// The watches, indexed by descriptor: the kernel assigns the lowest free number, so the array stays small.
    private var watches: [Watch] = []
    private var lastNumber: UInt32

    /// Creates an empty table; `lastNumber` precedes the first number that it assigns.
    package init(lastNumber: UInt32 = 0) {
        self.lastNumber = lastNumber
    }

    /// Starts to watch `descriptor`, or changes the events it is watched for.
    package mutating func watch(_ descriptor: Int32, for interest: Interest) -> Change? {
        guard let index = addedIndex(of: descriptor) else { return nil }
        watches[index].isWanted = true
        return register(interest, at: index)
    }

    /// Marks the events of `descriptor` as unwanted.
    ///
    /// A connection remains watched until an event occurs: usually its events are wanted again before that, and two
    /// system calls per request are saved.
    package mutating func forget(_ descriptor: Int32) -> Change? {
        guard let index = index(of: descriptor) else { return nil }
        watches[index].isWanted = false
        return watches[index].isConnection ? nil : register([], at: index)
    }

    /// Records that `descriptor` is an open connection; ``connectionClosed(_:)`` follows.
    package mutating func connectionOpened(_ descriptor: Int32) {
        guard let index = addedIndex(of: descriptor) else { return }
        if !watches[index].isConnection { connectionCount += 1 }
        watches[index] = Watch(isConnection: true)
    }

    /// Records that `descriptor` is about to be closed, after which the kernel stops watching it.
    package mutating func connectionClosed(_ descriptor: Int32) {
        guard let index = index(of: descriptor) else { return }
        if watches[index].isConnection { connectionCount -= 1 }
        watches[index] = Watch()
    }

    /// Returns the reaction to `event`.
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

    /// Returns the next number.
    ///
    /// Numbers repeat only after four billion watches; 0 is for descriptors that were never watched.
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
