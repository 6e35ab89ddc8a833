import DequeModule

/// An amount of something that tasks share, such as memory, and for which they wait in order.
package final class FairSemaphore: Sendable {
    private struct Waiter: Sendable {
        let id: UInt64
        let count: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var used = 0
        var waiting: Deque<Waiter> = []
        var lastID: UInt64 = 0
        /// The waits that were canceled before they began.
        var canceled: Set<UInt64> = []
    }

    private let limit: Int
    private let state = Locked(State())

    /// Creates a semaphore with `limit` in total.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Takes `count` if it is available and no task waits; returns whether it did.
    ///
    /// More than the limit is available when nothing is in use.
    package func tryAcquire(_ count: Int = 1) -> Bool {
        state.withLock { state in
            guard state.waiting.isEmpty, fits(count, state) else { return false }
            state.used += count
            return true
        }
    }

    /// Waits until `count` is available, and takes it, even if the task is canceled.
    package func acquire(_ count: Int = 1) async {
        _ = await wait(for: count, id: nextID())
    }

    /// Waits until `count` is available, and takes it; throws `CancellationError` if the task is canceled before.
    package func acquireUnlessCanceled(_ count: Int = 1) async throws {
        let id = nextID()
        let isAcquired = await withTaskCancellationHandler {
            await wait(for: count, id: id)
        } onCancel: {
            let (waiter, served) = state.withLock { state -> (Waiter?, [Waiter]) in
                guard let index = state.waiting.firstIndex(where: { $0.id == id }) else {
                    state.canceled.insert(id)
                    return (nil, [])
                }
                let waiter = state.waiting.remove(at: index)
                return (waiter, serveNext(&state))
            }
            waiter?.continuation.resume(returning: false)
            for waiter in served { waiter.continuation.resume(returning: true) }
        }
        state.withLock { _ = $0.canceled.remove(id) }
        guard isAcquired else { throw CancellationError() }
    }

    /// Returns `count`.
    package func release(_ count: Int = 1) {
        let served = state.withLock { state -> [Waiter] in
            state.used -= count
            return serveNext(&state)
        }
        for waiter in served { waiter.continuation.resume(returning: true) }
    }

    /// Removes and returns the first waiters for which enough is available, and takes it for them.
    private func serveNext(_ state: inout State) -> [Waiter] {
        var served: [Waiter] = []
        while let first = state.waiting.first, fits(first.count, state) {
            state.used += first.count
            served.append(state.waiting.removeFirst())
        }
        return served
    }

    private func nextID() -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    private func fits(_ count: Int, _ state: State) -> Bool { state.used == 0 || state.used + count <= limit }

    private func wait(for count: Int, id: UInt64) async -> Bool {
        await withCheckedContinuation { continuation in
            let result: Bool? = state.withLock { state in
                if state.canceled.remove(id) != nil { return false }
                if state.waiting.isEmpty, fits(count, state) {
                    state.used += count
                    return true
                }
                state.waiting.append(Waiter(id: id, count: count, continuation: continuation))
                return nil
            }
            if let result { continuation.resume(returning: result) }
        }
    }
}
