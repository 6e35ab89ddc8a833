import HTTPTransport
import TestSupport
import Threading

/// A receiver that records its calls, responds by script, and can be awaited.
///
/// It takes parts of bodies by either kind of call, or by those of a `TransferReceiver` only.
final class Recorder: DirectBodyReceiver {
    struct Record: Sendable {
        var heads: [ResponseHead] = []
        var body: [UInt8] = []
        /// The number of bytes of the body that were read to memory of the recorder.
        var directBytes = 0
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

    /// Returns the demand for the next bytes from the numbers of bytes received and of pauses so far.
    typealias Script = @Sendable (_ received: Int, _ pauses: Int) -> BodyDemand

    /// The maximum number of bytes of the body that are read at once, so that a body takes several reads.
    private static let largestRead = 60 << 10

    private let script: Locked<Script>
    private let records = Awaited(Record())
    private let readsDirectly: Bool
    private let onEnd: @Sendable () -> Void

    init(
        readsDirectly: Bool = true, script: @escaping Script = { _, _ in .more },
        onEnd: @escaping @Sendable () -> Void = {}
    ) {
        self.readsDirectly = readsDirectly
        self.onEnd = onEnd
        self.script = Locked(script)
    }

    var record: Record { records.value }

    /// Takes everything from now on.
    func takeAll() { script.withLock { $0 = { _, _ in .more } } }

    /// Returns when the record satisfies `isSatisfied`, or the task is canceled, as by a time limit.
    func wait(until isSatisfied: @escaping @Sendable (Record) -> Bool) async { await records.wait(until: isSatisfied) }

    /// The record after the end.
    func end() async -> Record {
        await wait { !$0.outcomes.isEmpty }
        return record
    }

    func receive(_ head: ResponseHead) {
        records.update { record in
            if !record.outcomes.isEmpty { record.callsAfterEnd += 1 }
            record.heads.append(head)
        }
    }

    func receive(_ bytes: Span<UInt8>) -> BodyDemand {
        take { record in bytes.withUnsafeBufferPointer { record.body.append(contentsOf: $0) } }
    }

    func receive(upTo count: Int, reading read: (inout OutputSpan<UInt8>) -> Void) -> BodyDemand? {
        guard readsDirectly else { return nil }
        return take { record in
            let received = record.body.count
            record.body.append(addingCapacity: min(count, Self.largestRead), initializingWith: read)
            record.directBytes += record.body.count - received
        }
    }

    /// Adds bytes to the body unless the script pauses.
    private func take(_ add: (inout Record) -> Void) -> BodyDemand {
        let script = script.withLock { $0 }
        let (received, pauses) = records.read { ($0.body.count, $0.pauses) }
        let demand = script(received, pauses)
        records.update { record in
            if !record.outcomes.isEmpty { record.callsAfterEnd += 1 }
            if case .pause = demand { record.pauses += 1 } else { add(&record) }
        }
        return demand
    }

    func finish(_ outcome: TransferOutcome) {
        records.update { $0.outcomes.append(outcome) }
        onEnd()
    }
}
