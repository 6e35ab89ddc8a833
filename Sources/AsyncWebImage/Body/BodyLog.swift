import DequeModule
import HTTPTransport
import Threading
import ResponseCache

/// The bytes of one download, in order: written by the transport's thread, read by any number of decoders.
///
/// Pieces are sealed when somebody reads them and from then on shared, never copied; small ones are copied for each reader
/// and stay in the piece that is being written, so that a body that comes byte by byte takes little more than its bytes. The
/// whole body is kept, so that whoever joins late can start from the first byte, until it is larger than the replay limit and
/// only decoders read it; then what all of them have read is dropped, and the transport is paused while they lag behind.
///
/// Those who wait for the bytes themselves have their answer from here, without a detour over the coordinator.
final class BodyLog: Sendable {
    struct Reader {
        /// Whether it may need only the beginning, so that no more shall be fetched than it asks for.
        let isFrugal: Bool
        /// The number of the next segment to read; that of the open piece follows those of the segments.
        var next = 0
        /// Bytes of that segment that have been read: not zero only if it was read while it was open.
        var offset = 0
        /// Bytes that have been read.
        var read = 0
        var waiting: CheckedContinuation<Void, Never>?
        /// Whether it reads nothing for a while, through no fault of its own.
        var isParked = false
        /// Whether the next wait is to return at once.
        var isPoked = false
        /// Whether what it has read is void, which it has yet to be told.
        var isOutdated = false
    }

    /// How the transfer ended: what came with the bytes, or why they are not all there.
    typealias End = Result<(head: ResponseHead, metrics: TransferMetrics), ImageError>

    struct State {
        let bytesInFlight: BytesInFlight
        /// The identity of the log among those that wait for memory.
        let id: BodyCrowd.ID
        /// Whether the others may have to be told that it does not grow any more.
        var isInCrowd = false
        /// Whether the transfer is paused for want of memory.
        var waitsForMemory = false
        var segments: Deque<[UInt8]> = []
        /// The number of the first segment that is still here.
        var firstSegment = 0
        /// The piece that is being written.
        var open: [UInt8] = []
        /// How much to allocate with the first bytes.
        var firstCapacity = segmentSize
        var received = 0
        /// The head of the response; of a body that is continued, the head it began with.
        var head: ResponseHead?
        /// Where the bytes come from.
        var source = ResponseSource.network
        /// Bytes of the segments and the open piece.
        var held = 0
        /// How long the whole body is, if the server says so.
        var expected: Int?
        var end: End?
        var readers: [UInt64: Reader] = [:]
        var nextReader: UInt64 = 0
        var collectors = Collectors()
        var watchers = ProgressWatchers()
        /// Whether the first byte is still here.
        var isWhole = true
        var isPaused = false
        var transfer: (any Transfer)?
    }

    private static let segmentSize = 64 << 10
    /// The minimum number of bytes that are sealed for a reader; fewer are copied.
    static let sealedSize = 16 << 10
    /// Most bytes that are allocated because the server promised them.
    static let trustedLength = 1 << 20
    /// The transfer is paused when so much is unread, and goes on when no more than the lower mark is.
    static let highWater = 1 << 20
    static let lowWater = 256 << 10
    static let frugalWater = 16 << 10

    private let replayLimit: Int
    let state: Locked<State>

    init(replayLimit: Int, bytesInFlight: BytesInFlight = BytesInFlight()) {
        self.replayLimit = replayLimit
        state = Locked(State(bytesInFlight: bytesInFlight, id: bytesInFlight.newID()))
    }

    deinit {
        state.withLock { state in
            state.leaveCrowd()
            state.bytesInFlight.remove(state.held)
        }
    }

    // MARK: Writing

    /// What to wake up when paused readers have caught up.
    func attach(_ transfer: any Transfer) {
        let resumed = state.withLock { state in
            guard state.end == nil else { return nil as (any Transfer)? }
            state.transfer = transfer
            // The readers may have caught up before anybody knew what to wake.
            return state.resumed()
        }
        resumed?.resume()
    }

    /// An attempt is over: until another is attached there is nothing to wake up.
    func detach() {
        state.withLock { state in
            state.leaveCrowd()
            (state.transfer, state.isPaused) = (nil, false)
        }
    }

    /// Takes the next bytes, or refuses them all with `.pause` until the readers have caught up, or there is memory.
    func append(_ bytes: Span<UInt8>) -> BodyDemand {
        let (demand, waiting, watching) = state.withLock { state in
            let isFull = state.isFull
            // One that its own readers hold up would hold up all others.
            if isFull { state.leaveCrowd() }
            if isFull || waitsForMemory(&state) {
                state.isPaused = true
                return (BodyDemand.pause, [CheckedContinuation<Void, Never>](), Watching?.none)
            }
            if state.open.count + bytes.count > state.open.capacity {
                state.seal()
                let capacity = state.received == 0 ? state.firstCapacity : Self.segmentSize
                state.open.reserveCapacity(max(capacity, bytes.count))
            }
            state.open.append(copying: bytes)
            state.received += bytes.count
            state.held += bytes.count
            state.bytesInFlight.add(bytes.count)
            if state.received > replayLimit, state.collectors.isEmpty, !state.readers.isEmpty { state.isWhole = false }
            return (.more, state.takeWaiting(), state.watching)
        }
        for continuation in waiting { continuation.resume() }
        watching?.tell()
        return demand
    }

    /// Nothing comes any more.
    ///
    /// A body in one piece is handed to those who wait for it at once; several have yet to be put together by
    /// ``answerCollectors()``, on a thread that may take its time.
    func finish(_ end: End) {
        let (waiting, watching, isPlain) = state.withLock { state in
            if state.end == nil { state.end = end }
            state.leaveCrowdUnlessDelivered()
            state.transfer = nil
            return (state.takeWaiting(), state.watchers.removeAll(), state.segments.isEmpty)
        }
        for continuation in waiting { continuation.resume() }
        for stream in watching { stream.finish() }
        if isPlain { answerCollectors() }
    }

    /// Hands the body, or why there is none, to those who wait for it, once it is complete.
    func answerCollectors() {
        let answer = state.withLock { state -> (Collectors, End, [UInt8], ResponseSource)? in
            guard let end = state.end, !state.collectors.isEmpty else { return nil }
            let collectors = state.collectors
            state.collectors = Collectors()
            if case .failure = end { return (collectors, end, [], state.source) }
            return (collectors, end, state.allBytes(), state.source)
        }
        guard let (collectors, end, bytes, source) = answer else { return }
        collectors.resolve(end.map { (bytes, Delivery(head: $0.head, metrics: $0.metrics)) }, from: source)
    }
}

extension BodyLog.State {
    /// The whole body.
    mutating func allBytes() -> [UInt8] {
        seal()
        guard segments.count > 1 else { return segments.first ?? [] }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(received)
        guard readers.isEmpty else {
            for segment in segments { bytes += segment }
            return bytes
        }
        // Nobody counts segments: one is as good, and the body need not be there twice.
        while let segment = segments.popFirst() { bytes += segment }
        segments = [bytes]
        return bytes
    }

    mutating func seal() {
        guard !open.isEmpty else { return }
        // Whoever has read all of it goes on with the next.
        for (id, reader) in readers where reader.read == received {
            readers[id]?.next = reader.next + 1
            readers[id]?.offset = 0
        }
        guard open.count <= open.capacity / 2 else {
            segments.append(open)
            open = []
            return
        }
        // Read before it was full, as from a slow server: kept without the room that it does not need.
        var segment: [UInt8] = []
        segment.reserveCapacity(open.count)
        segment += open
        segments.append(segment)
        open.removeAll(keepingCapacity: true)
    }

    /// Lets go of what every reader has read, once the body need not be whole any longer.
    mutating func dropRead() {
        guard !isWhole, collectors.isEmpty else { return }
        let oldest = readers.values.map(\.next).min() ?? firstSegment + segments.count
        var dropped = 0
        while firstSegment < oldest, let segment = segments.popFirst() {
            firstSegment += 1
            dropped += segment.count
        }
        if segments.isEmpty, !open.isEmpty, readers.values.allSatisfy({ $0.read == received }) {
            for id in readers.keys { readers[id]?.offset = 0 }
            dropped += open.count
            open.removeAll(keepingCapacity: true)
        }
        guard dropped > 0 else { return }
        held -= dropped
        bytesInFlight.remove(dropped)
    }

    /// Bytes that the slowest reader has not read.
    ///
    /// One that is parked does not count beside others that are not: it may wait for memory that they hold.
    var unread: Int {
        let reading = readers.values.lazy.filter { !$0.isParked }.map(\.read).min()
        return received - (reading ?? readers.values.lazy.map(\.read).min() ?? received)
    }

    private var isFrugal: Bool { readers.values.allSatisfy(\.isFrugal) }

    /// Whether the transfer has to wait for the readers.
    var isFull: Bool {
        guard collectors.isEmpty, !readers.isEmpty else { return false }
        if isFrugal { return unread >= BodyLog.frugalWater }
        return !isWhole && unread >= BodyLog.highWater
    }

    /// The transfer, if it was paused and may go on now.
    mutating func resumed() -> (any Transfer)? {
        guard isPaused, let transfer else { return nil }
        if collectors.isEmpty, !readers.isEmpty, unread > (isFrugal ? 0 : BodyLog.lowWater) { return nil }
        if waitsForMemory {
            // Unless there is enough by now, or its readers have given back so much.
            guard !bytesInFlight.isCrowded(for: held) else { return nil }
            leaveCrowd()
        }
        isPaused = false
        return transfer
    }

    mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
        var taken: [CheckedContinuation<Void, Never>] = []
        for (id, reader) in readers {
            guard let waiting = reader.waiting else { continue }
            readers[id]?.waiting = nil
            taken.append(waiting)
        }
        return taken
    }
}
