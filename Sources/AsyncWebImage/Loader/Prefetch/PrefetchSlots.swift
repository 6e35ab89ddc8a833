import DequeModule
import Threading

/// Limits the number of concurrent loads, in the order of requests, and starts none while paused.
final class PrefetchSlots: Sendable {
    private struct State {
        var free: Int
        var isPaused = false
        var isClosed = false
        var waiting: Deque<OneShot<Void>> = []

        /// Removes and returns the loads that can start.
        mutating func admit() -> [OneShot<Void>] {
            var admitted: [OneShot<Void>] = []
            while !isPaused, !isClosed, free > 0, let first = waiting.popFirst() {
                free -= 1
                admitted.append(first)
            }
            return admitted
        }
    }

    private let state: Locked<State>

    init(count: Int) {
        state = Locked(State(free: count))
    }

    /// Waits for a slot; returns `false` without one if the task is canceled or the slots are closed.
    func enter() async -> Bool {
        guard !Task.isCancelled else { return false }
        let turn = OneShot<Void>()
        return await withTaskCancellationHandler {
            change { $0.waiting.append(turn) }
            if Task.isCancelled || isClosed { withdraw(turn) }
            return (try? await turn.value) != nil
        } onCancel: {
            withdraw(turn)
        }
    }

    /// Releases the slot.
    func leave() { change { $0.free += 1 } }

    func pause() { change { $0.isPaused = true } }

    func resume() { change { $0.isPaused = false } }

    /// Closes the slots permanently, so that no load can start.
    func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for turn in waiting { turn.resolve(.failure(ImageError.shutDown)) }
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    private func change(_ change: (inout State) -> Void) {
        let admitted = state.withLock { state in
            change(&state)
            return state.admit()
        }
        for turn in admitted { turn.resolve(.success(())) }
    }

    /// Removes a waiting load; one that has already got its slot keeps it.
    private func withdraw(_ turn: OneShot<Void>) {
        let isWithdrawn = state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0 === turn }) else { return false }
            state.waiting.remove(at: index)
            return true
        }
        if isWithdrawn { turn.resolve(.failure(CancellationError())) }
    }
}
