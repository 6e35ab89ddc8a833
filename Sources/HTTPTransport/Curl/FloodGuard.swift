import CLinux
import Synchronization
import Threading

import Glibc

/// Ends connections that keep libcurl from returning, as decided by ``FloodJudge``.
///
/// libcurl calls no callback in this situation. Therefore a separate thread checks the worker's thread every 20
/// milliseconds, or every 2 after a flood, while libcurl is active, and shuts down the connection's socket, which
/// libcurl treats as its end.
final class FloodGuard: Sendable {
    /// A socket of a connection; its file descriptor can refer to another one later, which has another number.
    struct OpenSocket: Sendable, Hashable {
        let descriptor: Int32
        let number: UInt64
    }

    /// A connection that was ended.
    struct EndedConnection {
        let socket: OpenSocket
        /// Its endpoints, or `nil` if they are unknown.
        let endpoints: ConnectionEndpoints?
    }

    private struct State {
        /// The numbers of the open sockets by descriptor.
        var sockets: [Int32: UInt64] = [:]
        var lastNumber: UInt64 = 0
        var ended: [EndedConnection] = []
        /// The clock of the processor time of the worker's thread.
        var clock: clockid_t?
    }

    private static let interval: UInt32 = 20_000
    private static let intervalAfterFlood: UInt32 = 2_000
    /// The number of checks without activity after which the thread ends.
    private static let idleLooks = 50

    private let state = Locked(State())
    /// A number that is odd while the worker's thread is inside libcurl, and changes after each callback.
    private let activity = Atomic<UInt64>(0)
    private let isNeeded = Atomic(false)
    private let isWatching = Atomic(false)
    private let hasEndedAny = Atomic(false)
    private let isOver = Atomic(false)

    deinit {
        assert(isOver.load(ordering: .relaxed), "the guard of a transport that still runs")
    }
}

// MARK: - Methods for the worker's thread

extension FloodGuard {
    /// Enables the guard: from now on there can be connections that libcurl reads until nothing arrives, unlike plain
    /// HTTP/1.1.
    func begin() {
        // Other systems have neither this clock nor the kernel's count of bytes read.
        guard !isNeeded.load(ordering: .relaxed) else { return }
        var clock = clockid_t()
        guard unsafe pthread_getcpuclockid(pthread_self(), &clock) == 0 else { return }
        state.withLock { $0.clock = clock }
        isNeeded.store(true, ordering: .relaxed)
    }

    /// Runs `call`, a call of libcurl.
    func during<Result>(_ call: () -> Result) -> Result {
        advance(by: 1)
        defer { advance(by: 1) }
        if isNeeded.load(ordering: .relaxed) {
            // The thread that watches ends only if it has not seen the change above; see `watch()`.
            atomicMemoryFence(ordering: .sequentiallyConsistent)
            if !isWatching.load(ordering: .relaxed) { startWatching() }
        }
        return call()
    }

    /// Records a callback of libcurl.
    func calledBack() { advance(by: 2) }

    /// Records an opened connection.
    func connectionOpened(_ descriptor: Int32) -> OpenSocket {
        state.withLock { state in
            state.lastNumber += 1
            state.sockets[descriptor] = state.lastNumber
            return OpenSocket(descriptor: descriptor, number: state.lastNumber)
        }
    }

    /// Records a connection that is about to be closed.
    func connectionClosed(_ descriptor: Int32) {
        state.withLock { $0.sockets[descriptor] = nil }
    }

    /// Returns the number of bytes read from a connection; negative if the system does not report it.
    func bytesRead(from descriptor: Int32) -> Int64 {
        clinux_bytes_read(descriptor)
    }

    /// Returns the connections that have been ended since the last call.
    func removeEndedConnections() -> [EndedConnection] {
        guard hasEndedAny.load(ordering: .relaxed), hasEndedAny.exchange(false, ordering: .acquiring) else { return [] }
        return state.withLock { state in
            defer { state.ended = [] }
            return state.ended
        }
    }

    /// Ends the guard when the worker's thread ends.
    func end() { isOver.store(true, ordering: .relaxed) }

    private func advance(by count: UInt64) {
        // Only this thread writes it.
        activity.store(activity.load(ordering: .relaxed) &+ count, ordering: .relaxed)
    }

    private func startWatching() {
        guard !isWatching.exchange(true, ordering: .acquiringAndReleasing) else { return }
        do {
            try startThread(named: "webimage-guard") { [self] in watch() }
        } catch {
            // Transfers continue without a guard; the next call tries again.
            isWatching.store(false, ordering: .relaxed)
        }
    }
}

// MARK: - The guard's thread

extension FloodGuard {
    private func watch() {
        var judge = FloodJudge()
        var last = activity.load(ordering: .relaxed)
        var idle = 0
        while !isOver.load(ordering: .relaxed) {
            usleep(judge.needsFrequentSampling ? Self.intervalAfterFlood : Self.interval)
            let current = activity.load(ordering: .relaxed)
            let isInside = !current.isMultiple(of: 2)
            if let culprit = judge.look(
                number: isInside ? current : nil, processorTime: processorTime, bytesRead: { bytesRead })
            {
                endConnection(culprit)
            }
            idle = isInside || current != last ? 0 : idle + 1
            last = current
            guard idle >= Self.idleLooks else { continue }
            isWatching.store(false, ordering: .sequentiallyConsistent)
            // Otherwise a call that just began would not be noticed.
            if activity.load(ordering: .sequentiallyConsistent) == last { return }
            if isWatching.exchange(true, ordering: .acquiringAndReleasing) { return }
            idle = 0
        }
    }

    private var processorTime: Duration {
        guard let clock = state.withLock({ $0.clock }) else { return .zero }
        var time = timespec()
        guard unsafe clock_gettime(clock, &time) == 0 else { return .zero }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private var bytesRead: [Int32: Int64] {
        state.withLock { state in
            Dictionary(uniqueKeysWithValues: state.sockets.keys.map { ($0, clinux_bytes_read($0)) })
        }
    }

    /// Shuts down a connection, from any thread.
    func endConnection(_ descriptor: Int32) {
        state.withLock { state in
            // Under the lock, because the worker's thread takes it before it closes a connection.
            guard let number = state.sockets[descriptor] else { return }
            let socket = OpenSocket(descriptor: descriptor, number: number)
            state.ended.append(EndedConnection(socket: socket, endpoints: ConnectionEndpoints(of: descriptor)))
            // Set first, because libcurl can return, and its transfers can end, before the call below returns.
            hasEndedAny.store(true, ordering: .releasing)
            shutdown(descriptor, Int32(SHUT_RDWR))
        }
    }
}
