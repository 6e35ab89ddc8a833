import HTTPTransport
import Threading

/// Puts the stored beginning of a body before the rest that comes over the network: the receiver sees one.
///
/// The network is paused until all of the beginning has been handed over.
final class JoinedBody: Transfer {
    private enum Stage {
        /// With how the network has ended meanwhile.
        case beginning(StoredTransfer, TransferOutcome?)
        case rest
        /// There is none to come; nil means that the network's end says why.
        case over(TransferOutcome?)
    }

    private let beginning: StoredBody
    private let receiver: any TransferReceiver
    private let thread: CacheThread
    private let url: String
    private let steerNetwork: @Sendable (_ goesOn: Bool) -> Void
    private let end: @Sendable (TransferOutcome) -> Void
    private let stage = Locked(Stage.rest)

    /// The receiver gets bytes alone.
    ///
    /// `steerNetwork` is called when the beginning has been handed over, and says whether the rest is wanted; `end` is
    /// called once.
    init(
        _ beginning: StoredBody, of url: String, to receiver: any TransferReceiver, on thread: CacheThread,
        steerNetwork: @escaping @Sendable (_ goesOn: Bool) -> Void, end: @escaping @Sendable (TransferOutcome) -> Void
    ) {
        self.beginning = beginning
        self.receiver = receiver
        self.thread = thread
        self.url = url
        self.steerNetwork = steerNetwork
        self.end = end
        let transfer = StoredTransfer(nil, StoredBodyReader(beginning), to: receiver, on: thread) {
            self.finishBeginning($0)
        }
        stage.withLock { $0 = .beginning(transfer, nil) }
    }

    func start() {
        guard let transfer else { return }
        thread.append { transfer.start() }
    }

    func cancel() { transfer?.cancel() }

    func resume() { transfer?.resume() }

    private var transfer: StoredTransfer? {
        stage.withLock { stage in
            if case .beginning(let transfer, _) = stage { transfer } else { nil }
        }
    }

    private func finishBeginning(_ end: StoredTransfer.End) {
        let next: Stage =
            switch end {
            case .complete: .rest
            case .stopped: .over(.stopped(TransferMetrics()))
            case .cancelled: .over(nil)
            case .damaged(let received):
                .over(
                    .failed(
                        TransportError(
                            url: url, reason: .truncated(expected: beginning.length, received: received))))
            }
        let outcome = stage.withLock { stage -> TransferOutcome? in
            defer { stage = next }
            if case .beginning(_, let outcome) = stage { return outcome }
            return nil
        }
        if let outcome { return finish(outcome) }
        if case .rest = next { steerNetwork(true) } else { steerNetwork(false) }
    }

    // MARK: The transport's thread

    /// Offers bytes of the rest.
    func receive(_ bytes: Span<UInt8>) -> BodyDemand {
        switch stage.withLock({ $0 }) {
        case .beginning: .pause
        case .rest: receiver.receive(bytes)
        case .over: .stop
        }
    }

    /// The network has ended.
    func finish(_ outcome: TransferOutcome) {
        let known = stage.withLock { stage -> TransferOutcome? in
            switch stage {
            case .beginning(let transfer, _):
                stage = .beginning(transfer, outcome)
                return nil
            case .rest, .over(nil): return outcome
            case .over(let known?): return known
            }
        }
        if let known { end(known) }
    }
}
