import Threading

/// The lines that are open at a time: read, and not written yet.
///
/// A line that waits for a retry, a rate, a lookup, or a slot is open as well, but takes no place of a transfer. More
/// lines than those that suffice to keep all transfers busy are opened only while there are free places, which they
/// could take, and the lines opened before have begun: a list can be read faster than tasks start. Long lines count by their bytes as well, because the sender of a list determines their length.
final class LineWindow: Sendable {
    /// The number of bytes of open lines from which no further one is opened, unless another one is set.
    static let byteLimit = 8 << 20

    private struct State {
        var open = 0
        /// The number of open lines whose tasks have not begun.
        var starting = 0
        var bytes = 0
        var isClosed = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let limit: Int
    /// The number of bytes of open lines from which no further one is opened.
    private let byteLimit: Int
    /// The number of lines that are opened in any case.
    private let base: Int
    private let hasFreePlaces: @Sendable () -> Bool
    private let state = Locked(State())

    init(
        limit: Int, byteLimit: Int = LineWindow.byteLimit, base: Int = .max,
        hasFreePlaces: @escaping @Sendable () -> Bool = { true }
    ) {
        self.limit = limit
        self.byteLimit = byteLimit
        self.base = base
        self.hasFreePlaces = hasFreePlaces
    }

    /// The number of open lines.
    var open: Int { state.withLock { $0.open } }

    /// Waits until another line may be opened; returns `false` once the window is closed.
    ///
    /// For a single reader.
    func enter() async -> Bool {
        while true {
            await withCheckedContinuation { continuation in
                let isAdmitted = state.withLock { state in
                    if state.isClosed || isFree(state) { return true }
                    state.waiter = continuation
                    return false
                }
                if isAdmitted { continuation.resume() }
            }
            let isOpened: Bool? = state.withLock { state in
                if state.isClosed { return false }
                // A waiting download may have taken the place in the meantime.
                guard isFree(state) else { return nil }
                state.open += 1
                return true
            }
            if let isOpened { return isOpened }
        }
    }

    /// Counts the bytes of the line that was opened last, once it has been read.
    func add(bytes count: Int) {
        state.withLock { $0.bytes += count }
    }

    /// Notes that the task of an open line is created; ``didStart()`` follows.
    func willStart() {
        state.withLock { $0.starting += 1 }
    }

    /// Notes that the task of an open line has begun.
    func didStart() {
        let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
            state.starting -= 1
            return takeWaiter(&state)
        }
        waiter?.resume()
    }

    /// Removes a line with its bytes.
    func leave(bytes count: Int = 0) {
        let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
            state.open -= 1
            state.bytes -= count
            return takeWaiter(&state)
        }
        waiter?.resume()
    }

    /// Opens another line if there are free places; call this method when there is one.
    func placesChanged() {
        let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in takeWaiter(&state) }
        waiter?.resume()
    }

    private func takeWaiter(_ state: inout State) -> CheckedContinuation<Void, Never>? {
        guard state.waiter != nil, isFree(state) else { return nil }
        defer { state.waiter = nil }
        return state.waiter
    }

    private func isFree(_ state: State) -> Bool {
        state.open < limit && state.bytes < byteLimit
            && (state.open < base || (state.starting <= base && hasFreePlaces()))
    }

    /// Prevents further lines from being opened.
    func close() {
        state.withLock { state in
            state.isClosed = true
            defer { state.waiter = nil }
            return state.waiter
        }?.resume()
    }
}
