import HTTPTransport
import Threading

/// A receiver that keeps what it is told, decides by script, and can be awaited.
final class Recorder: TransferReceiver {
    struct Record: Sendable {
        var heads: [ResponseHead] = []
        var body: [UInt8] = []
        var pauses = 0
        var outcomes: [TransferOutcome] = []
        var callsAfterEnd = 0

        var head: ResponseHead? { heads.first }

        var metrics: TransferMetrics? {
            switch outcomes.first {
            case .complete(let metrics), .stopped(let metrics): metrics
            case .failed, nil: nil
            }
        }

        var error: TransportError? {
            if case .failed(let error) = outcomes.first { error } else { nil }
        }

        var isComplete: Bool {
            if case .complete = outcomes.first { true } else { false }
        }

        var wasStopped: Bool {
            if case .stopped = outcomes.first { true } else { false }
        }
    }

    /// What to do about the next bytes, from the number of those taken and of the pauses before.
    typealias Script = @Sendable (_ received: Int, _ pauses: Int) -> BodyDemand

    private struct Waiter {
        let id: Int
        let isSatisfied: @Sendable (Record) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var record = Record()
        var script: Script
        var waiters: [Waiter] = []
        var lastID = 0
    }

    private let state: Locked<State>
    private let onEnd: @Sendable () -> Void

    init(script: @escaping Script = { _, _ in .more }, onEnd: @escaping @Sendable () -> Void = {}) {
        self.onEnd = onEnd
        state = Locked(State(script: script))
    }

    var record: Record { state.withLock { $0.record } }

    /// From now on takes everything.
    func takeAll() { state.withLock { $0.script = { _, _ in .more } } }

    /// Returns when the record satisfies `isSatisfied`, or the task is canceled, as by a time limit.
    func wait(until isSatisfied: @escaping @Sendable (Record) -> Bool) async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    if isSatisfied(state.record) || Task.isCancelled { return true }
                    state.waiters.append(Waiter(id: id, isSatisfied: isSatisfied, continuation: continuation))
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume()
        }
    }

    /// The record after the end.
    func end() async -> Record {
        await wait { !$0.outcomes.isEmpty }
        return record
    }

    func receive(_ head: ResponseHead) {
        update { record in
            if !record.outcomes.isEmpty { record.callsAfterEnd += 1 }
            record.heads.append(head)
        }
    }

    func receive(_ bytes: Span<UInt8>) -> BodyDemand {
        let (script, received, pauses) = state.withLock { ($0.script, $0.record.body.count, $0.record.pauses) }
        let demand = script(received, pauses)
        update { record in
            if !record.outcomes.isEmpty { record.callsAfterEnd += 1 }
            if case .pause = demand {
                record.pauses += 1
            } else {
                bytes.withUnsafeBufferPointer { record.body.append(contentsOf: $0) }
            }
        }
        return demand
    }

    func finish(_ outcome: TransferOutcome) {
        update { $0.outcomes.append(outcome) }
        onEnd()
    }

    private func update(_ change: (inout Record) -> Void) {
        let satisfied = state.withLock { state in
            change(&state.record)
            guard !state.waiters.isEmpty else { return [CheckedContinuation<Void, Never>]() }
            let record = state.record
            let satisfied = state.waiters.filter { $0.isSatisfied(record) }
            state.waiters.removeAll { $0.isSatisfied(record) }
            return satisfied.map(\.continuation)
        }
        for continuation in satisfied { continuation.resume() }
    }
}
