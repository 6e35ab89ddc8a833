import HTTPTransport
import Threading

/// Hands over a stored body on the cache's thread, piece by piece, as fast as it is wanted.
final class StoredTransfer: Transfer {
    /// How it ended.
    enum End: Sendable {
        case complete
        /// The receiver wants no more.
        case stopped
        case cancelled
        /// The body is not what was stored; the receiver has these bytes of it.
        case damaged(received: Int)
    }

    private struct State {
        /// What the receiver has yet to take.
        var offered: [UInt8]?
        var isPaused = false
        var isResumed = false
        var isCancelled = false
        var end: (@Sendable (End) -> Void)?
    }

    /// So many pieces come one after the other; then others have their turn.
    private static let piecesInTurn = 4

    private let receiver: any TransferReceiver
    private let thread: CacheThread
    private let state: Locked<State>
    /// Touched by the thread only: nobody else waits for a disk.
    private let reader: Locked<StoredBodyReader>

    /// The receiver gets bytes alone, `first` before those of `reader`; `end` is called once.
    init(
        _ first: [UInt8]?, _ reader: StoredBodyReader, to receiver: any TransferReceiver, on thread: CacheThread,
        end: @escaping @Sendable (End) -> Void
    ) {
        self.receiver = receiver
        self.thread = thread
        state = Locked(State(offered: first, end: end))
        self.reader = Locked(reader)
    }

    /// Begins, or goes on; on the thread.
    func start() {
        for _ in 0..<Self.piecesInTurn where !handOverOne() { return }
        thread.append { self.start() }
    }

    func cancel() {
        goOn { $0.isCancelled = true }
    }

    func resume() {
        goOn { $0.isResumed = true }
    }

    private func goOn(_ change: (inout State) -> Void) {
        let isPaused = state.withLock { state in
            change(&state)
            defer { state.isPaused = false }
            return state.isPaused
        }
        if isPaused { thread.append { self.start() } }
    }

    /// Hands over a piece; false if no other shall follow now.
    private func handOverOne() -> Bool {
        let (offered, isCancelled) = state.withLock { ($0.offered, $0.isCancelled) }
        guard !isCancelled else { return finish(.cancelled) }
        let piece: [UInt8]?
        do {
            piece = try offered ?? reader.withLock { reader throws(DamagedBody) in try reader.next() }
        } catch {
            return finish(.damaged(received: reader.withLock { $0.delivered }))
        }
        guard let piece else { return finish(.complete) }
        state.withLock { ($0.isResumed, $0.offered) = (false, piece) }
        switch receiver.receive(piece.span) {
        case .more:
            state.withLock { $0.offered = nil }
            return true
        case .stop: return finish(.stopped)
        case .pause:
            return state.withLock { state in
                if state.isResumed || state.isCancelled { return true }
                state.isPaused = true
                return false
            }
        }
    }

    private func finish(_ end: End) -> Bool {
        let tell = state.withLock { state in
            defer { (state.offered, state.end) = (nil, nil) }
            return state.end
        }
        tell?(end)
        return false
    }
}
