import DequeModule
import HTTPTransport
import Threading
import ResponseCache

/// The bytes of one download in order: written by a thread of the transport, read by any number of decoders.
///
/// Pieces that are read are sealed and then shared by all readers. Small ones are copied for each reader and stay in
/// the piece being written, so that a body that arrives byte by byte takes little more than its bytes. The whole body
/// is kept, so that callers that join late can start with the first byte, until it exceeds the replay limit and only
/// decoders read it. From then on, bytes that all of them have read are discarded, and the transport is paused while
/// they lag behind.
///
/// Callers that wait for the whole body get it directly from the log, without the coordinator.
final class BodyLog: Sendable {
    struct Reader {
        /// A Boolean value that indicates whether the reader might need only the beginning, so that no more must be
        /// fetched than it requests.
        let limitsReadAhead: Bool
        /// The number of the next segment to read; that of the open piece follows those of the segments.
        var next = 0
        /// The number of bytes of that segment that have been read: nonzero only if it was read while open.
        var offset = 0
        /// The number of bytes read.
        var read = 0
        /// The bytes for which it waits.
        var goal = WaitGoal.bytes
        /// A Boolean value that indicates whether it has suspended reading for reasons outside its control.
        var isParked = false
        /// A Boolean value that indicates whether the next wait must return immediately.
        var isPoked = false
        /// A Boolean value that indicates whether the bytes that it has read are void, and it has not been told so yet.
        var isOutdated = false
    }

    /// The bytes for which a reader waits.
    enum WaitGoal {
        /// Any bytes.
        case bytes
        /// As many bytes as are worth waking a thread.
        case batch
        /// The whole body, or as much of it as is received and kept before the reader reads it.
        case body
    }

    /// The end of the transfer: the head and metrics of a complete body, or the error.
    typealias End = Result<Delivery, ImageError>

    struct State {
        let bytesInFlight: BytesInFlight
        /// The source of the memory of large pieces, and its recipient when they have been read.
        let buffers: BufferPool
        /// The identity of the log among those that wait for memory.
        let id: GrowthQueue.ID
        /// A Boolean value that indicates whether others might have to be notified that it no longer grows.
        var isInGrowthQueue = false
        /// A Boolean value that indicates whether the transfer is paused for lack of memory.
        var waitsForMemory = false
        var segments: Deque<[UInt8]> = []
        /// The number of the first segment that has not been discarded.
        var firstSegment = 0
        /// The piece being written.
        var open: [UInt8] = []
        /// The capacity to allocate with the first bytes.
        var firstCapacity = segmentSize
        var received = 0
        /// The number of times that the body has started over.
        var restarts = 0
        /// The digests that readers compute.
        var digests: [BodyDigest.Algorithm: SharedDigest] = [:]
        /// The head of the response; for a continued body, the original head.
        var head: ResponseHead?
        /// The source of the bytes.
        var source = ResponseSource.network
        /// The number of bytes in the segments and the open piece.
        var held = 0
        /// The declared length of the whole body, if any.
        var expected: Int?
        var end: End?
        var readers: [UInt64: Reader] = [:]
        /// The waits of readers for bytes.
        var waits: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var nextReader: UInt64 = 0
        var bodyWaiters = BodyWaiters()
        var watchers = ProgressWatchers()
        /// A Boolean value that indicates whether the body is kept from its first byte.
        var isComplete = true
        var isPaused = false
        var transfer: (any Transfer)?
    }

    static let segmentSize = 64 << 10
    /// The minimum number of bytes that are sealed for a reader; fewer are copied.
    static let sealedSize = 16 << 10
    /// The maximum number of bytes allocated on the basis of the declared length before any are received.
    static let trustedLength = 1 << 20
    /// The maximum capacity that is then allocated, relative to the number of bytes received.
    static let growth = 8
    /// The maximum number of bytes of a batch.
    static let maximumBatch = 64 << 10
    /// The number of unread bytes from which the transfer is paused; it is resumed at the lower mark.
    static let highWater = 1 << 20
    static let lowWater = 256 << 10
    /// The same for readers that limit the read-ahead; the transfer is resumed when they have read everything.
    static let limitedReadAhead = 16 << 10

    private let maximumReplayBytes: Int
    private let pendingAnswers: PendingAnswers
    let state: Locked<State>

    init(
        maximumReplayBytes: Int, bytesInFlight: BytesInFlight = BytesInFlight(),
        buffers: BufferPool = BufferPool(.none), pendingAnswers: PendingAnswers = PendingAnswers()
    ) {
        self.maximumReplayBytes = maximumReplayBytes
        self.pendingAnswers = pendingAnswers
        state = Locked(State(bytesInFlight: bytesInFlight, buffers: buffers, id: bytesInFlight.newID()))
    }

    deinit {
        state.withLock { state in
            state.leaveGrowthQueue()
            state.bytesInFlight.remove(state.held)
            for segment in state.segments { state.buffers.keep(segment) }
            state.buffers.keep(state.open)
        }
    }

    // MARK: Writing

    /// Sets the transfer, which is paused while readers lag behind and resumed when they have caught up.
    func attach(_ transfer: any Transfer) {
        let resumed = state.withLock { state in
            guard state.end == nil else { return nil as (any Transfer)? }
            state.transfer = transfer
            // The readers might have caught up before the transfer was known.
            return state.resumed()
        }
        resumed?.resume()
    }

    /// Ends an attempt: until another one is attached, there is no transfer to resume.
    func detach() {
        state.withLock { state in
            state.leaveGrowthQueue()
            (state.transfer, state.isPaused) = (nil, false)
        }
    }

    /// A Boolean value that indicates whether the body has not ended, and the next bytes would be taken.
    var takesBytes: Bool {
        state.withLock { state in
            state.end == nil && !state.isFull && !state.bytesInFlight.isOverBudget(for: state.held)
        }
    }

    /// Takes the next bytes, or rejects all of them with `.pause` until the readers have caught up, or memory is
    /// available.
    func append(_ bytes: Span<UInt8>) -> BodyDemand {
        append { state in
            state.makeRoom(for: bytes.count)
            state.open.append(copying: bytes)
            return bytes.count
        }
    }

    /// Takes the next bytes, at most `count`, like ``append(_:)``, but lets `read` append them to the body's memory.
    func append(upTo count: Int, reading read: (inout OutputSpan<UInt8>) -> Void) -> BodyDemand {
        append { state in
            state.makeRoom(for: 1)
            let before = state.open.count
            let limit = state.bodyWaiters.isEmpty && state.limitsReadAhead ? Self.limitedReadAhead : count
            let room = min(count, limit, state.open.capacity - before)
            state.open.append(addingCapacity: room, initializingWith: read)
            return state.open.count - before
        }
    }

    /// Takes the whole body like ``append(_:)``, without copying it.
    func append(whole bytes: [UInt8]) -> BodyDemand {
        append { state in
            state.seal()
            state.open = bytes
            return bytes.count
        }
    }

    private func append(_ add: (inout State) -> Int) -> BodyDemand {
        let (demand, waiting, watching) = state.withLock { state in
            let isFull = state.isFull
            // A body delayed by its own readers would delay all others.
            if isFull { state.leaveGrowthQueue() }
            if isFull || waitsForMemory(&state) {
                state.isPaused = true
                return (BodyDemand.pause, state.takeWaitingForBytes(), Watching?.none)
            }
            let count = add(&state)
            state.received += count
            state.held += count
            state.bytesInFlight.add(count)
            if state.received > maximumReplayBytes, state.bodyWaiters.isEmpty, !state.readers.isEmpty {
                state.isComplete = false
            }
            return (.more, state.takeWaitingForBytes(), state.watching)
        }
        for continuation in waiting { continuation.resume() }
        watching?.notify()
        return demand
    }

    /// Ends the body.
    ///
    /// A body in one piece is passed to waiting callers immediately, others by ``resumeBodyWaiters()``.
    func finish(_ end: End) {
        let (waiting, watching, isPlain) = state.withLock { state in
            if state.end == nil { state.end = end }
            state.leaveGrowthQueueUnlessDelivered()
            state.transfer = nil
            return (state.takeWaiting(), state.watchers.removeAll(), state.segments.isEmpty)
        }
        for continuation in waiting { continuation.resume() }
        for stream in watching { stream.finish() }
        if isPlain { answerBodyWaiters() }
    }

    /// Passes the body or the error to waiting callers once the transfer has ended.
    ///
    /// A task combines several pieces, because the calling thread may serve other transfers.
    func resumeBodyWaiters() {
        guard hasPiecesToCombine else { return answerBodyWaiters() }
        pendingAnswers.begin()
        // Detached: it belongs to no caller. A shutdown waits for it.
        Task.detached {
            self.answerBodyWaiters()
            self.pendingAnswers.end()
        }
    }

    private var hasPiecesToCombine: Bool {
        state.withLock { state in
            guard case .success? = state.end, !state.bodyWaiters.isEmpty else { return false }
            return state.segments.count + (state.open.isEmpty ? 0 : 1) > 1
        }
    }

    private func answerBodyWaiters() {
        let answer = state.withLock { state -> (BodyWaiters, End, [UInt8], ResponseSource)? in
            guard !state.bodyWaiters.isEmpty, let end = state.end else { return nil }
            let bodyWaiters = state.bodyWaiters
            state.bodyWaiters = BodyWaiters()
            if case .failure = end { return (bodyWaiters, end, [], state.source) }
            return (bodyWaiters, end, state.allBytes(), state.source)
        }
        guard let (bodyWaiters, end, bytes, source) = answer else { return }
        switch consume end {
        case .success(let delivery): bodyWaiters.deliver(bytes, delivery, from: source)
        case .failure(let error): bodyWaiters.fail(error)
        }
    }
}

extension BodyLog.State {
    /// The number of bytes that the slowest reader has not read.
    ///
    /// A suspended reader does not count if others are not suspended: it might wait for memory that they hold.
    var unread: Int {
        let reading = readers.values.lazy.filter { !$0.isParked }.map(\.read).min()
        return received - (reading ?? readers.values.lazy.map(\.read).min() ?? received)
    }

    /// A Boolean value that indicates whether all readers, if there are any, limit the read-ahead.
    fileprivate var limitsReadAhead: Bool { readers.values.allSatisfy(\.limitsReadAhead) }

    /// A Boolean value that indicates whether the transfer must wait for the readers.
    var isFull: Bool {
        guard bodyWaiters.isEmpty, !readers.isEmpty else { return false }
        if limitsReadAhead { return unread >= BodyLog.limitedReadAhead }
        return !isComplete && unread >= BodyLog.highWater
    }

    /// Returns the transfer if it was paused and may be resumed now.
    mutating func resumed() -> (any Transfer)? {
        guard isPaused, let transfer else { return nil }
        if bodyWaiters.isEmpty, !readers.isEmpty, unread > (limitsReadAhead ? 0 : BodyLog.lowWater) { return nil }
        if waitsForMemory {
            // Unless there is enough memory by now, or its readers have released as much.
            guard !bytesInFlight.isOverBudget(for: held) else { return nil }
            leaveGrowthQueue()
        }
        isPaused = false
        return transfer
    }

    /// Takes the waits of all readers.
    mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] { takeWaiting(evenWithoutBytes: true) }

    /// Takes the waits of the readers for which there are enough bytes.
    mutating func takeWaitingForBytes() -> [CheckedContinuation<Void, Never>] { takeWaiting(evenWithoutBytes: false) }

    private mutating func takeWaiting(evenWithoutBytes: Bool) -> [CheckedContinuation<Void, Never>] {
        var taken: [CheckedContinuation<Void, Never>] = []
        for (id, continuation) in waits {
            if !evenWithoutBytes, let reader = readers[id], !hasEnough(for: reader) { continue }
            waits[id] = nil
            taken.append(continuation)
        }
        return taken
    }

    /// Returns whether the bytes for which a reader waits have been received.
    ///
    /// A batch is 1/32 of the body. Of a body that is not kept whole, any bytes are enough, because reading them
    /// releases memory.
    func hasEnough(for reader: BodyLog.Reader) -> Bool {
        let unread = received - reader.read
        switch reader.goal {
        case .batch where isComplete:
            return unread > 0 && unread >= min((expected ?? 0) / 32, BodyLog.maximumBatch)
        case .bytes, .batch: return unread > 0
        case .body: return isPaused || !isComplete
        }
    }

    /// Returns whether a reader need not wait any longer.
    func isReady(_ reader: BodyLog.Reader) -> Bool {
        reader.isOutdated || end != nil || hasEnough(for: reader)
    }
}
