import DequeModule
import Threading

/// Elements that are processed, of which a limited number is active at a time.
///
/// The download coordinator decides which elements are active. The group decides when the next element is read: not
/// before it can become active, so that the number of open elements is small unless they wait for something else, such
/// as the rate of their host.
package final class LoadGroup: Sendable {
    /// A change about which the download coordinator decides.
    enum Signal: Sendable {
        /// An element waits for its slot without a download.
        case take(LoadSlot, OneShot<Void>)
        /// An element does not wait any longer.
        case withdraw(LoadSlot, OneShot<Void>)
        /// An element waits for something other than a download.
        case wait(LoadSlot)
        /// An element takes its slot without waiting.
        case keep(LoadSlot)
        /// An element has been processed.
        case end(LoadSlot)
        /// There are no more elements.
        case endGroup(LoadGroup)
    }

    private struct State {
        var open = 0
        /// The number of open elements of which the coordinator does not know yet whether they need a slot.
        var starting = 0
        var weight = 0
        var last = -1
        /// The first element that has not been processed, if their order matters.
        var next = 0
        /// The elements after `next` that have been processed.
        var ended: Set<Int> = []
        var turns: [Int: OneShot<Void>] = [:]
        /// A Boolean value that indicates whether another element could become active.
        var hasRoom = true
        var isPaused = false
        /// The readers that wait until another element may be read.
        var waiters: Deque<OneShot<Void>> = []
    }

    /// The maximum sum of the weights of open elements.
    package static let maximumWeight = 8 << 20
    /// The number of elements, for each that can be active, that are open in any case, so that one is always ready.
    package static let openElementsPerActive = 2
    /// The maximum number of open elements, unless another one is set.
    package static let maximumOpenCount = 4_096

    /// The maximum number of active elements.
    let limit: Int
    /// A Boolean value that indicates whether the first element that has not been processed can become active beyond
    /// the limit, because later ones wait for it.
    let isOrdered: Bool
    /// The maximum number of elements that are read and not processed yet.
    private let maximumOpen: Int
    let send: @Sendable (Signal) -> Void
    private let state = Locked(State())

    init(limit: Int, maximumOpen: Int, isOrdered: Bool, send: @escaping @Sendable (Signal) -> Void) {
        self.limit = max(1, limit)
        self.maximumOpen = max(1, maximumOpen)
        self.isOrdered = isOrdered
        self.send = send
    }

    /// The number of elements that are read and not processed yet.
    package var openCount: Int { state.withLock { $0.open } }

    // MARK: Reading

    /// Waits until another element may be read, and returns its slot; `nil` once the reader has ended.
    func enter(_ reader: LoadReader) async -> LoadSlot? {
        while !reader.isEnded {
            let (number, waiter) = state.withLock { state -> (Int?, OneShot<Void>?) in
                guard mayOpen(state) else {
                    let waiter = OneShot<Void>()
                    state.waiters.append(waiter)
                    return (nil, waiter)
                }
                state.open += 1
                state.starting += 1
                state.last += 1
                return (state.last, nil)
            }
            if let number {
                // Another reader might be able to continue as well.
                change { _ in }
                return LoadSlot(number, of: self)
            }
            guard let waiter else { return nil }
            reader.wakes(waiter)
            try? await waiter.value
        }
        // It might have been woken in place of another reader.
        change { _ in }
        return nil
    }

    /// Prevents further elements from being read, or lets them; those that are open continue.
    func setPaused(_ isPaused: Bool) { change { $0.isPaused = isPaused } }

    /// Adds the weight of the element that was read last.
    func add(weight: Int) { change { $0.weight += weight } }

    /// Removes the weight of an element.
    func remove(weight: Int) { change { $0.weight -= weight } }

    /// Sets whether another element could become active, considering `count` elements that have not been considered
    /// before.
    func setRoom(_ hasRoom: Bool, considering count: Int) {
        change { state in
            state.hasRoom = hasRoom
            state.starting -= count
        }
    }

    /// Notes that an element has been processed.
    func elementEnded(_ number: Int) {
        let turn = state.withLock { state -> OneShot<Void>? in
            state.open -= 1
            guard isOrdered else { return nil }
            state.ended.insert(number)
            while state.ended.remove(state.next) != nil { state.next += 1 }
            return state.turns.removeValue(forKey: state.next)
        }
        turn?.resolve(.success(()))
        change { _ in }
    }

    /// Resolves `answer` when all elements before one of an ordered group have been processed.
    func awaitTurn(of number: Int, _ answer: OneShot<Void>) {
        let isNext = state.withLock { state in
            if state.next < number { state.turns[number] = answer }
            return state.next >= number
        }
        if isNext { answer.resolve(.success(())) }
    }

    private func mayOpen(_ state: State) -> Bool {
        let (product, isTooLarge) = Self.openElementsPerActive.multipliedReportingOverflow(by: limit)
        let base = isTooLarge ? .max : product
        return !state.isPaused && state.open < maximumOpen && state.weight < Self.maximumWeight
            && (state.open < base || (state.hasRoom && state.starting <= base))
    }

    private func change(_ change: (inout State) -> Void) {
        let waiter = state.withLock { state -> OneShot<Void>? in
            change(&state)
            guard mayOpen(state) else { return nil }
            // Those whose readers have ended are resolved.
            while let waiter = state.waiters.popFirst() { if !waiter.isResolved { return waiter } }
            return nil
        }
        waiter?.resolve(.success(()))
    }
}
