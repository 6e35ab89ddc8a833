/// Assigns transfers to the threads of a transport, which have connections of their own.
///
/// A transfer is assigned to:
/// 1. the thread with the HTTP/2 connection to its host; while the first connection to a host is opened, which shows
///    whether it supports HTTP/2, the thread that opens it;
/// 2. otherwise, a thread with an idle connection to its host, unless that thread has many more transfers than others;
/// 3. otherwise, the thread with the fewest transfers that may open a connection.
///
/// The numbers of idle connections are estimates, because servers close connections; after a wrong estimate, the
/// transfer opens a connection.
struct TransferAssignment {
    /// The connections with one key.
    private struct Connections {
        /// By thread, the number of transfers; a vector instead of an array, which would have to be allocated.
        var running = SIMD16<Int32>()
        /// By thread, the estimated number of idle connections.
        var idle = SIMD16<Int32>()
        /// A Boolean value that indicates whether transfers share a connection, as with HTTP/2; `nil` if unknown.
        var isMultiplexed: Bool?
        /// The thread of a shared connection.
        var home: Int
        /// The number of the most recent assignment.
        var lastUse = 0

        /// The number of connections in use by a thread; while the protocol is unknown, the other transfers wait for
        /// the first connection.
        func connectionsInUse(by thread: Int) -> Int {
            Int(isMultiplexed == false ? running[thread] : min(running[thread], 1))
        }

        /// A Boolean value that indicates whether there is no transfer.
        var isUnused: Bool { running == SIMD16() }
    }

    /// The maximum number of threads.
    static let maximumThreads = 16
    /// The number of keys that are remembered, in addition to those of running transfers.
    static let maximumKeys = 4_096
    /// The number of transfers on each started thread at which another thread is started.
    static let transfersBeforeNextThread = 4
    /// The minimum difference between the transfers of two threads that outweighs an idle connection.
    static let minimumImbalance = 4

    private var connections: [ConnectionKey: Connections] = [:]
    /// By thread, the maximum number of connections.
    private let capacities: [Int]
    /// By thread, the number of transfers.
    private(set) var running: [Int]
    /// By thread, the number of connections in use.
    private var connectionsInUse: [Int]
    private var assignmentCount = 0
    /// The number of threads that can be started.
    private var threadCount: Int
    /// The number of threads that have had a transfer; the threads are started in order.
    private(set) var startedCount = 1

    /// The number of keys that are remembered now.
    var keyCount: Int { connections.count }

    /// Creates an assignment to as many threads as there are `capacities`, from 1 to ``maximumThreads``; each is the
    /// number of connections that a thread may have.
    init(capacities: [Int]) {
        precondition((1...Self.maximumThreads).contains(capacities.count), "\(capacities.count) threads")
        self.capacities = capacities
        threadCount = capacities.count
        running = capacities.map { _ in 0 }
        connectionsInUse = running
    }

    /// Returns the thread for a new transfer, and counts the transfer until ``end(_:on:keepsConnection:)``.
    mutating func assign(_ key: ConnectionKey) -> Int {
        let thread = thread(for: key)
        startedCount = max(startedCount, thread + 1)
        begin(key, on: thread)
        return thread
    }

    /// Records that a transfer on `thread` continues with requests of `key`, for example after a redirect.
    mutating func begin(_ key: ConnectionKey, on thread: Int) {
        assignmentCount += 1
        if connections[key] == nil, connections.count >= Self.maximumKeys { forgetUnused() }
        var state = connections[key] ?? unknown(key, on: thread)
        state.lastUse = assignmentCount
        count(1, in: &state, on: thread)
        if state.isMultiplexed != true { state.idle[thread] = max(0, state.idle[thread] - 1) }
        connections[key] = state
    }

    /// Records the end of a transfer's requests of `key`, and whether the connection can be used again.
    mutating func end(_ key: ConnectionKey, on thread: Int, keepsConnection: Bool) {
        guard var state = connections[key] else { return }
        count(-1, in: &state, on: thread)
        if state.isMultiplexed == true {
            state.idle[thread] = keepsConnection ? 1 : state.idle[thread]
        } else if keepsConnection {
            state.idle[thread] = min(Int32(clamping: capacities[thread]), state.idle[thread] + 1)
        }
        connections[key] = state
    }

    /// Records whether transfers with `key` share a connection, as seen in a response on `thread`.
    mutating func learn(_ key: ConnectionKey, isMultiplexed: Bool, on thread: Int) {
        guard var state = connections[key], state.isMultiplexed != isMultiplexed else { return }
        for thread in running.indices { connectionsInUse[thread] -= state.connectionsInUse(by: thread) }
        state.isMultiplexed = isMultiplexed
        if isMultiplexed {
            state.home = thread
            for thread in running.indices { state.idle[thread] = min(state.idle[thread], 1) }
        }
        for thread in running.indices { connectionsInUse[thread] += state.connectionsInUse(by: thread) }
        connections[key] = state
    }

    /// Moves a transfer that has just been assigned to `thread`, which cannot be started, and returns another thread.
    ///
    /// From then on, transfers are assigned to the first `count` threads only, which have been started.
    mutating func reassign(_ key: ConnectionKey, from thread: Int, toFirst count: Int) -> Int {
        end(key, on: thread, keepsConnection: false)
        threadCount = max(1, min(threadCount, count))
        startedCount = min(startedCount, threadCount)
        if let state = connections[key], state.home >= threadCount { connections[key]?.home = 0 }
        return assign(key)
    }
}

// MARK: - Decisions

extension TransferAssignment {
    private func thread(for key: ConnectionKey) -> Int {
        guard threadCount > 1 else { return 0 }
        // A thread is started only if the others are busy.
        let startsNext =
            startedCount < threadCount
            && (0..<startedCount).allSatisfy { running[$0] >= Self.transfersBeforeNextThread || !hasRoom($0) }
        let threads = 0..<(startsNext ? startedCount + 1 : startedCount)
        let leastBusy = threads.min { load(of: $0) < load(of: $1) } ?? 0
        guard let state = connections[key] else { return leastBusy }
        let home = state.home
        switch state.isMultiplexed {
        case true?:
            if state.running[home] > 0 || state.idle[home] > 0 || hasRoom(home) { return home }
        case nil:
            // No more than can have connections of their own there, should they need them.
            if state.running[home] > 0, Int(state.running[home]) < capacities[home] { return home }
        case false?: break
        }
        let reusing = threads.filter { state.idle[$0] > 0 }.min { running[$0] < running[$1] }
        // The idle connection may have been closed, so a thread that may open another one is preferred.
        guard let reusing, hasRoom(reusing) || !hasRoom(leastBusy),
            running[reusing] <= running[leastBusy] + tolerance
        else { return leastBusy }
        return reusing
    }

    /// The difference between the transfers of two threads that outweighs an idle connection.
    private var tolerance: Int { max(Self.minimumImbalance, running.reduce(0, +) / (2 * threadCount)) }

    private func hasRoom(_ thread: Int) -> Bool { connectionsInUse[thread] < capacities[thread] }

    /// A measure by which threads are compared: one that may open a connection is preferred to one where a transfer
    /// would have to wait.
    private func load(of thread: Int) -> (Int, Int) {
        hasRoom(thread) ? (0, running[thread]) : (1, connectionsInUse[thread] - capacities[thread])
    }
}

// MARK: - Records

extension TransferAssignment {
    private func unknown(_ key: ConnectionKey, on thread: Int) -> Connections {
        Connections(isMultiplexed: key.isSecure ? nil : false, home: thread)
    }

    private mutating func count(_ change: Int, in state: inout Connections, on thread: Int) {
        connectionsInUse[thread] -= state.connectionsInUse(by: thread)
        // An unknown host can turn out to support HTTP/2 where the first transfer runs.
        if change > 0, state.isMultiplexed == nil, state.isUnused { state.home = thread }
        state.running[thread] += Int32(change)
        running[thread] += change
        connectionsInUse[thread] += state.connectionsInUse(by: thread)
    }

    /// Forgets the keys that have no transfer and were not used recently.
    private mutating func forgetUnused() {
        let oldest = assignmentCount - Self.maximumKeys / 2
        connections = connections.filter { !$0.value.isUnused || $0.value.lastUse > oldest }
    }
}
