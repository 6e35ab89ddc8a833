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
        /// The body cannot be read beyond these bytes.
        case damaged(received: Int)
    }

    private struct State {
        var position = 0
        /// What the receiver has refused so far.
        var offered: [UInt8]?
        var isPaused = false
        var isResumed = false
        var isCancelled = false
        var end: (@Sendable (End) -> Void)?
    }

    /// So many pieces come one after the other; then others have their turn.
    private static let piecesInTurn = 4

    private let body: StoredBody
    private let receiver: any TransferReceiver
    private let thread: CacheThread
    private let state: Locked<State>

    /// Of the receiver only the bytes are offered; `end` is called once.
    init(
        _ body: StoredBody, to receiver: any TransferReceiver, on thread: CacheThread,
        end: @escaping @Sendable (End) -> Void
    ) {
        self.body = body
        self.receiver = receiver
        self.thread = thread
        state = Locked(State(end: end))
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
        let (position, offered, isCancelled) = state.withLock { ($0.position, $0.offered, $0.isCancelled) }
        guard !isCancelled else { return finish(.cancelled) }
        var next = position
        let piece: [UInt8]?
        do {
            piece = try offered ?? body.next(&next)
        } catch {
            return finish(.damaged(received: position))
        }
        guard let piece else { return finish(.complete) }
        state.withLock { ($0.isResumed, $0.position, $0.offered) = (false, next, piece) }
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
