import DequeModule

/// The bytes of a body in order, and the positions of its readers; a pure value, except for the memory that it reuses.
///
/// Pieces that are read are sealed and then shared by all readers. Small ones are copied for each reader and stay in
/// the piece being written, so that a body that arrives byte by byte takes little more than its bytes. All bytes are
/// kept, so that readers that join late can start with the first one, until they exceed the replay limit. From then
/// on, bytes that all readers have read are discarded.
struct BodyBuffer {
    typealias ReaderID = UInt64

    /// The position of a reader.
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
        /// A Boolean value that indicates whether it has suspended reading for reasons outside its control.
        var isParked = false
        /// A Boolean value that indicates whether the bytes that it has read are void, and it has not been told so yet.
        var isOutdated = false
        /// A Boolean value that indicates whether it holds copies of the bytes that it has read.
        var keepsBytes = false
    }

    static let segmentSize = 64 << 10
    /// The minimum number of bytes that are sealed for a reader; fewer are copied.
    static let sealedSize = 16 << 10
    /// The maximum number of bytes allocated on the basis of the declared length before any are received.
    static let trustedLength = 1 << 20
    /// The maximum capacity that is then allocated, relative to the number of bytes received.
    static let growth = 8
    /// The number of bytes from which on a body is not short.
    private static let shortLength = 256 << 10
    /// The maximum number of bytes of a batch.
    static let maximumBatch = 64 << 10

    private let maximumReplayBytes: Int
    /// The source of the memory of large pieces, and its recipient when they have been read.
    let pool: BufferPool
    var segments: Deque<[UInt8]> = []
    /// The number of the first segment that has not been discarded.
    var firstSegment = 0
    /// The piece being written.
    var open: [UInt8] = []
    /// The capacity to allocate with the first bytes.
    private(set) var firstCapacity = segmentSize
    private(set) var received = 0
    /// The number of times that the body has started over.
    private(set) var restarts = 0
    /// The number of bytes in the segments and the open piece.
    var held = 0
    /// The declared length of the whole body, if any.
    private(set) var expected: Int?
    /// A Boolean value that indicates whether the body is kept from its first byte.
    private(set) var hasBeginning = true
    /// A Boolean value that indicates whether callers wait for the whole body, so that nothing may be discarded.
    var isCollected = false
    var readers: [ReaderID: Reader] = [:]
    private var nextReader: ReaderID = 0

    init(maximumReplayBytes: Int, pool: BufferPool = BufferPool(.none)) {
        self.maximumReplayBytes = maximumReplayBytes
        self.pool = pool
    }

    /// The progress of the body.
    var progress: DownloadProgress { DownloadProgress(received: received, expected: expected) }

    /// The memory that the body takes, in bytes: all of it while a reader holds what it has read.
    var memory: Int { readers.values.contains(where: \.keepsBytes) ? received : held }

    /// A Boolean value that indicates whether so few bytes have been received that the beginning will be kept for a while.
    var isShort: Bool { hasBeginning && received < min(Self.shortLength, maximumReplayBytes / 2) }

    /// The position after the last byte received.
    var lastPosition: BodyPosition { BodyPosition(restarts: restarts, count: received) }

    // MARK: Writing

    /// Starts a body, `length` bytes long if declared; the bytes of earlier attempts are discarded.
    mutating func begin(expecting length: Int?) {
        expected = length
        firstCapacity = length.map { min($0, Self.trustedLength) } ?? Self.segmentSize
        if received > 0 { restart() }
    }

    /// Continues the body where an earlier attempt was interrupted, up to `total` bytes if declared.
    ///
    /// `stored` is its beginning, if it has not been received here.
    mutating func proceed(with stored: [[UInt8]]?, to total: Int?) {
        expected = total
        guard let stored else { return }
        if received > 0 { restart() }
        segments = Deque(stored)
        received = stored.reduce(0) { $0 + $1.count }
        held = received
    }

    /// Discards all bytes: the readers must start over.
    mutating func restart() {
        (segments, firstSegment, open) = ([], 0, [])
        (received, held, hasBeginning) = (0, 0, true)
        restarts += 1
        for (id, reader) in readers {
            var restarted = Reader(limitsReadAhead: reader.limitsReadAhead)
            restarted.isParked = reader.isParked
            restarted.isOutdated = reader.isOutdated || reader.read > 0
            readers[id] = restarted
        }
    }

    mutating func append(_ bytes: Span<UInt8>) {
        makeRoom(for: bytes.count)
        open.append(copying: bytes)
        noteAppended(bytes.count)
    }

    /// Lets `read` append at most `count` bytes to the memory of the body.
    mutating func append(upTo count: Int, reading read: (inout OutputSpan<UInt8>) -> Void) {
        makeRoom(for: 1)
        let before = open.count
        open.append(addingCapacity: min(count, open.capacity - before), initializingWith: read)
        noteAppended(open.count - before)
    }

    /// Appends the whole body without copying it.
    mutating func append(whole bytes: [UInt8]) {
        seal()
        open = bytes
        noteAppended(bytes.count)
    }

    private mutating func noteAppended(_ count: Int) {
        received += count
        held += count
        if received > maximumReplayBytes, !isCollected, !readers.isEmpty { hasBeginning = false }
    }

    /// Keeps no more than the bytes that a reader has not read.
    mutating func discardBeginning() {
        hasBeginning = false
        dropRead()
    }

    // MARK: Reading

    /// Adds a reader that starts with the first byte; `nil` if that has been discarded.
    mutating func addReader(limitsReadAhead: Bool = false) -> ReaderID? {
        guard hasBeginning else { return nil }
        defer { nextReader += 1 }
        readers[nextReader] = Reader(limitsReadAhead: limitsReadAhead)
        return nextReader
    }

    mutating func remove(_ id: ReaderID) {
        readers[id] = nil
        dropRead()
    }

    /// Returns the next pieces for a reader, at most `limit`, and advances it past them; `nil` if there is no such
    /// reader.
    ///
    /// Throws `BodyRestarted` once if what it has read is void.
    mutating func read(_ id: ReaderID, limit: Int = .max) throws(BodyRestarted) -> [[UInt8]]? {
        if open.count >= Self.sealedSize { seal() }
        guard var reader = readers[id] else { return nil }
        guard !reader.isOutdated else {
            readers[id]?.isOutdated = false
            throw BodyRestarted()
        }
        let pieces = pieces(for: &reader, limit: limit)
        reader.isParked = false
        readers[id] = reader
        dropRead()
        return pieces
    }

    private func pieces(for reader: inout Reader, limit: Int) -> [[UInt8]] {
        var pieces = Array(segments[(reader.next - firstSegment)...].prefix(limit))
        let offset = reader.offset
        if let first = pieces.first, offset > 0 { pieces[0] = Array(first[offset...]) }
        reader.next += pieces.count
        if !pieces.isEmpty { reader.offset = 0 }
        // The open piece, if that is next: it is small and continues to grow.
        if pieces.count < limit, reader.offset < open.count {
            // Not the array of a slice, which would share the storage of a whole piece with all its capacity.
            pieces.append([UInt8](exactCopyOf: open[reader.offset...]))
            reader.offset = open.count
        }
        reader.read += pieces.reduce(0) { $0 + $1.count }
        return pieces
    }

    /// Returns the position after the last bytes that a reader has read; `nil` if they are void by now.
    func position(of id: ReaderID) -> BodyPosition? {
        guard let reader = readers[id], !reader.isOutdated else { return nil }
        return BodyPosition(restarts: restarts, count: reader.read)
    }

    /// Returns whether a reader has read everything.
    func hasReadAll(_ id: ReaderID) -> Bool { readers[id]?.read == received }

    /// Returns whether the bytes for which a reader waits have been received, or it must start over.
    ///
    /// A batch is 1/32 of the body. Of a body that is not kept whole, any bytes are enough, because reading them
    /// releases memory.
    func isReady(_ id: ReaderID, for goal: ReaderWaits.Goal) -> Bool {
        guard let reader = readers[id] else { return true }
        if reader.isOutdated { return true }
        let unread = received - reader.read
        return switch goal {
        case .batch where hasBeginning: unread > 0 && unread >= min((expected ?? 0) / 32, Self.maximumBatch)
        case .bytes, .batch: unread > 0
        case .body: !hasBeginning
        }
    }

    /// Suspends a reader: others need not wait for it until it reads again.
    mutating func park(_ id: ReaderID) { readers[id]?.isParked = true }

    /// Sets whether a reader holds copies of the bytes that it has read, until it starts over.
    mutating func setKeepsBytes(_ keepsBytes: Bool, _ id: ReaderID) { readers[id]?.keepsBytes = keepsBytes }

    /// Lets a reader start with the first byte again, and suspends it; returns `false` if there is a batch to read, or
    /// the beginning has been discarded.
    mutating func rewind(_ id: ReaderID) -> Bool {
        guard let reader = readers[id], hasBeginning, !isReady(id, for: .batch) else { return false }
        readers[id] = Reader(limitsReadAhead: reader.limitsReadAhead, isParked: true)
        return true
    }

    /// The use that is made of the body.
    var consumption: Backpressure.Consumption {
        var (slowest, slowestActive) = (received, Int.max)
        var limitsReadAhead = true
        for reader in readers.values {
            slowest = min(slowest, reader.read)
            if !reader.isParked { slowestActive = min(slowestActive, reader.read) }
            limitsReadAhead = limitsReadAhead && reader.limitsReadAhead
        }
        return Backpressure.Consumption(
            hasReaders: !readers.isEmpty, isCollected: isCollected, limitsReadAhead: limitsReadAhead,
            hasBeginning: hasBeginning, unread: received - (slowestActive == .max ? slowest : slowestActive))
    }
}

/// The error for a reader whose bytes have been discarded: the body starts over, and so must the reader.
package struct BodyRestarted: Error {
    package init() {}
}
