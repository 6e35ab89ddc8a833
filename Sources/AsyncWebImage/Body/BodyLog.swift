import HTTPTransport
import ResponseCache
import Threading

/// The body of one download: written by one thread at a time, and read by any number of decoders and callers.
///
/// A ``BodyBuffer`` under a lock, with those who wait for its bytes, and with the transfer, which is paused and resumed
/// according to ``Backpressure``. Callers that wait for the whole body get it directly from the log, without the
/// coordinator.
final class BodyLog: Sendable {
    /// The end of the transfer: the head and metrics of a complete body, or the error.
    typealias End = Result<Delivery, ImageError>

    struct State {
        var buffer: BodyBuffer
        var memory: BodyMemory
        var backpressure = Backpressure()
        var waits = ReaderWaits()
        var bodyWaiters = BodyWaiters() {
            didSet { buffer.isCollected = !bodyWaiters.isEmpty }
        }
        var watchers = ProgressWatchers()
        var digests = SharedDigests()
        /// The head of the response; for a continued body, the original head.
        var head: ResponseHead?
        /// The source of the bytes.
        var source = ResponseSource.network
        var end: End?
        var transfer: (any Transfer)?
        /// A Boolean value that indicates whether an attempt has failed, and the next one has not begun.
        var isBetweenAttempts = false
    }

    let pendingAnswers: PendingAnswers
    let state: Locked<State>

    init(
        maximumReplayBytes: Int, bytesInFlight: BytesInFlight = BytesInFlight(),
        buffers: BufferPool = BufferPool(.none), pendingAnswers: PendingAnswers = PendingAnswers()
    ) {
        self.pendingAnswers = pendingAnswers
        let buffer = BodyBuffer(maximumReplayBytes: maximumReplayBytes, pool: buffers)
        state = Locked(State(buffer: buffer, memory: BodyMemory(bytesInFlight)))
    }

    deinit {
        state.withLock { state in
            // Before another body may grow in its place.
            state.memory.hold(0)
            state.memory.leaveQueue()
            state.buffer.release()
        }
    }

    // MARK: Attempts

    /// Begins an attempt; returns the number of bytes that it can continue.
    func beginAttempt() -> Int {
        state.withLock { state in
            state.isBetweenAttempts = false
            return state.buffer.received
        }
    }

    /// Starts a body, `length` bytes long if declared; the data of earlier attempts is discarded.
    func begin(expecting length: Int?, head: ResponseHead? = nil, from source: ResponseSource = .network) {
        waking { state in
            (state.head, state.source) = (head, source)
            state.buffer.begin(expecting: length)
        }
    }

    /// Continues the body where an earlier attempt was interrupted, up to `total` bytes if declared.
    ///
    /// `stored` is its beginning, if the log does not contain it.
    func proceed(
        with stored: [[UInt8]]?, to total: Int?, head: ResponseHead? = nil, from source: ResponseSource = .network
    ) {
        waking { state in
            (state.head, state.source) = (head, source)
            state.buffer.proceed(with: stored, to: total)
        }
    }

    /// Sets the transfer, which is paused while readers lag behind and resumed when they have caught up.
    func attach(_ transfer: any Transfer) {
        // The readers might have caught up before the transfer was known.
        resuming { state in if state.end == nil { state.transfer = transfer } }
    }

    /// Ends an attempt: until another one is attached, there is no transfer to resume.
    func detach() {
        state.withLock { state in
            state.memory.leaveQueue()
            (state.transfer, state.backpressure) = (nil, Backpressure())
            state.isBetweenAttempts = true
        }
    }

    /// Discards a large body whose transfer has failed and will be retried, if others wait for memory.
    ///
    /// Otherwise each body would hold its memory while it waits for its retry, and a decode of bytes that are not kept
    /// would hold memory for which complete bodies wait, while these keep its retry from starting.
    func discardIfOverBudget() {
        waking { state in
            let memory = state.memory
            if memory.isOverBudget || !state.buffer.hasBeginning && memory.isAtLimit { state.buffer.restart() }
        }
    }

    /// Ends the body.
    ///
    /// A body in one piece is passed to waiting callers immediately, others by ``resumeBodyWaiters()``.
    func finish(_ end: End) {
        let (watching, isPlain) = waking { state in
            if state.end == nil { state.end = end }
            // A body that is not decoded will be delivered soon: until then, it holds more than its share.
            let isDelivered = state.hasWholeBody && state.buffer.readers.isEmpty && state.backpressure.pause != .memory
            if !isDelivered { state.memory.leaveQueue() }
            state.transfer = nil
            return (state.watchers.removeAll(), state.buffer.segments.isEmpty)
        }
        for stream in watching { stream.finish() }
        if isPlain { answerBodyWaiters() }
    }

    // MARK: Writing

    /// A Boolean value that indicates whether the body has not ended, and the next bytes would be taken.
    var takesBytes: Bool {
        state.withLock { $0.end == nil && !$0.buffer.consumption.isFull && !$0.memory.isOverBudget }
    }

    /// Takes the next bytes, or rejects all of them with `.pause` until the readers have caught up, or memory is
    /// available.
    func append(_ bytes: Span<UInt8>) -> BodyDemand { append { buffer, _ in buffer.append(bytes) } }

    /// Takes the next bytes, at most `count`, like ``append(_:)``, but lets `read` append them to the body's memory.
    func append(upTo count: Int, reading read: (inout OutputSpan<UInt8>) -> Void) -> BodyDemand {
        append { buffer, limit in buffer.append(upTo: min(count, limit), reading: read) }
    }

    /// Takes the whole body like ``append(_:)``, without copying it.
    func append(whole bytes: [UInt8]) -> BodyDemand { append { buffer, _ in buffer.append(whole: bytes) } }

    private func append(_ add: (_ buffer: inout BodyBuffer, _ limit: Int) -> Void) -> BodyDemand {
        let (demand, notification) = waking { state in
            let consumption = state.buffer.consumption
            if let pause = pause(consumption, &state) {
                state.backpressure.pause(for: pause)
                return (BodyDemand.pause, ProgressWatchers.Notification?.none)
            }
            add(&state.buffer, consumption.maximumPiece)
            return (.more, state.watchers.notification(of: state.buffer.progress))
        }
        notification?.send()
        return demand
    }

    /// Returns why the next bytes cannot be taken; `nil` if they can.
    ///
    /// While all bodies combined hold too much memory, one that is only decoded keeps no more than its share, and of
    /// those that are kept whole, one at a time grows.
    private func pause(_ consumption: Backpressure.Consumption, _ state: inout State) -> Backpressure.Pause? {
        if consumption.isFull {
            // A body delayed by its own readers would delay all others.
            state.memory.leaveQueue()
            return .readers
        }
        guard state.memory.isOverBudget else { return nil }
        if consumption.isPacedByReaders {
            // Bytes that have been read are kept only for callers that might join.
            state.buffer.discardBeginning()
            state.memory.hold(state.buffer.memory)
            guard state.memory.isOverBudget else { return nil }
            // The readers will release memory as they continue, which they can.
            guard consumption.unread == 0 else {
                state.memory.leaveQueue()
                return .readers
            }
        }
        return state.memory.admitsGrowth { [weak self] in self?.resumeTransfer() } ? nil : .memory
    }

    /// Resumes the transfer because memory is available.
    private func resumeTransfer() {
        let resumed = state.withLock { state in
            state.backpressure.memoryGranted()
            let resumed = state.resumed()
            // Its readers are too slow by now: another body continues.
            if resumed == nil, state.backpressure.pause != nil, state.transfer != nil { state.memory.leaveQueue() }
            return resumed
        }
        resumed?.resume()
    }

    // MARK: Effects

    /// Changes the state, then wakes the readers for which the change is enough.
    func waking<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
        let (result, waiting) = state.withLock { state in
            let result = change(&state)
            state.memory.hold(state.buffer.memory)
            return (result, state.takeReady())
        }
        for continuation in waiting { continuation.resume() }
        return result
    }

    /// Changes the state, then resumes the transfer if it was paused and may continue.
    func resuming<Result: Sendable, Failure: Error>(
        _ change: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (result, resumed) = try state.withLock { state throws(Failure) in
            let result = try change(&state)
            state.memory.hold(state.buffer.memory)
            return (result, state.resumed())
        }
        resumed?.resume()
        return result
    }
}

extension BodyLog.State {
    /// A Boolean value that indicates whether the transfer has ended with a complete body.
    var hasWholeBody: Bool {
        if case .success? = end { true } else { false }
    }

    /// Returns whether a reader need not wait any longer.
    func isReady(_ id: BodyBuffer.ReaderID, for goal: ReaderWaits.Goal) -> Bool {
        end != nil || buffer.isReady(id, for: goal) || goal == .body && backpressure.pause != nil
    }

    /// Takes the waits of the readers that need not wait any longer.
    fileprivate mutating func takeReady() -> [CheckedContinuation<Void, Never>] {
        // Most bodies have no reader, or one that reads.
        waits.isEmpty ? [] : waits.ready { isReady($0, for: $1) }.compactMap { waits.wake($0) }
    }

    /// Returns the transfer if it was paused and may be resumed now.
    fileprivate mutating func resumed() -> (any Transfer)? {
        guard let transfer, let pause = backpressure.pause,
            backpressure.resume(buffer.consumption, hasMemory: !memory.isOverBudget)
        else { return nil }
        if pause == .memory { memory.leaveQueue() }
        return transfer
    }
}
