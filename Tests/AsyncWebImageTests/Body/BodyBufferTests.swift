import Testing

@testable import AsyncWebImage

/// The bytes of a body, and the positions of its readers.
struct BodyBufferTests {
    /// A buffer in an object, so that expectations can change it.
    @dynamicMemberLookup
    private final class Body {
        private var buffer: BodyBuffer

        init(_ bytes: [UInt8] = [], maximumReplayBytes: Int = 100 << 20) {
            buffer = BodyBuffer(maximumReplayBytes: maximumReplayBytes)
            append(bytes)
        }

        subscript<Value>(dynamicMember path: KeyPath<BodyBuffer, Value>) -> Value { buffer[keyPath: path] }

        var beginning: [UInt8]? { (buffer.beginning()?.pieces.joined()).map { Array($0) } }
        func append(_ bytes: [UInt8]) { if !bytes.isEmpty { buffer.append(bytes.span) } }
        func change(_ change: (inout BodyBuffer) -> Void) { change(&buffer) }
        func isReady(_ id: BodyBuffer.ReaderID, for goal: ReaderWaits.Goal) -> Bool { buffer.isReady(id, for: goal) }
        func position(of id: BodyBuffer.ReaderID) -> BodyPosition? { buffer.position(of: id) }
        func rewind(_ id: BodyBuffer.ReaderID) -> Bool { buffer.rewind(id) }

        func reader(limitsReadAhead: Bool = false) throws -> BodyBuffer.ReaderID {
            let id = buffer.addReader(limitsReadAhead: limitsReadAhead)
            return try #require(id)
        }

        @discardableResult
        func read(_ id: BodyBuffer.ReaderID, limit: Int = .max) throws -> [[UInt8]]? {
            try buffer.read(id, limit: limit)
        }
    }

    private func bytes(_ count: Int, of value: UInt8 = 7) -> [UInt8] { [UInt8](repeating: value, count: count) }

    // MARK: Reading

    @Test func readerGetsEveryByteOnce() throws {
        let buffer = Body([1, 2])
        let reader = try buffer.reader()
        #expect(try buffer.read(reader) == [[1, 2]])
        #expect(try buffer.read(reader) == [])
        buffer.append([3])
        #expect(try buffer.read(reader) == [[3]])
        #expect(buffer.position(of: reader) == BodyPosition(restarts: 0, count: 3))
    }

    @Test func smallPiecesAreCopiedAndLargeOnesAreSealed() throws {
        let buffer = Body(bytes(BodyBuffer.sealedSize - 1))
        let reader = try buffer.reader()
        try buffer.read(reader)
        #expect(buffer.segments.isEmpty)
        buffer.append([7])
        #expect(try buffer.read(reader) == [[7]])
        #expect(buffer.segments.count == 1 && buffer.open.isEmpty)
        buffer.append([8])
        #expect(try buffer.read(reader) == [[8]])
    }

    @Test func readerGetsNoMorePiecesThanItAsksFor() throws {
        let buffer = Body()
        buffer.change { $0.proceed(with: [[1], [2], [3]], to: nil) }
        let reader = try buffer.reader()
        #expect(try buffer.read(reader, limit: 2) == [[1], [2]])
        #expect(try buffer.read(reader, limit: 2) == [[3]])
    }

    @Test func readerThatHasBeenRemovedReadsNothing() throws {
        let buffer = Body([1])
        let reader = try buffer.reader()
        buffer.change { $0.remove(reader) }
        #expect(try buffer.read(reader) == nil)
        #expect(buffer.isReady(reader, for: .body))
    }

    @Test func batchIsOne32ndOfTheBodyAndAtMost64KiB() throws {
        let buffer = Body()
        buffer.change { $0.begin(expecting: 320) }
        let reader = try buffer.reader()
        #expect(!buffer.isReady(reader, for: .bytes))
        buffer.append(bytes(9))
        #expect(buffer.isReady(reader, for: .bytes) && !buffer.isReady(reader, for: .batch))
        buffer.append(bytes(1))
        #expect(buffer.isReady(reader, for: .batch) && !buffer.isReady(reader, for: .body))

        buffer.change { $0.begin(expecting: 100 << 20) }
        buffer.append(bytes(BodyBuffer.maximumBatch))
        #expect(buffer.isReady(reader, for: .batch))
    }

    @Test func rewoundReaderStartsWithTheFirstByte() throws {
        let buffer = Body([1, 2])
        let reader = try buffer.reader()
        let first = try buffer.read(reader)
        #expect(buffer.rewind(reader))
        #expect(try buffer.read(reader) == first)
    }

    @Test func readerWithABatchToReadIsNotRewound() throws {
        let buffer = Body([1])
        let reader = try buffer.reader()
        #expect(!buffer.rewind(reader))
    }

    // MARK: Discarding

    @Test func bodyWithinTheReplayLimitIsKept() throws {
        let buffer = Body(bytes(100), maximumReplayBytes: 100)
        let reader = try buffer.reader()
        try buffer.read(reader)
        #expect(buffer.hasBeginning && buffer.held == 100)
        #expect(buffer.beginning == bytes(100))
    }

    @Test func bytesBeyondTheReplayLimitAreDiscardedWhenAllReadersHaveReadThem() throws {
        let buffer = Body(maximumReplayBytes: 100)
        let (first, second) = (try buffer.reader(), try buffer.reader())
        buffer.append(bytes(101))
        #expect(!buffer.hasBeginning && buffer.beginning == nil)
        try buffer.read(first)
        #expect(buffer.held == 101)
        try buffer.read(second)
        #expect(buffer.held == 0 && buffer.received == 101)
        buffer.append([8])
        #expect(try buffer.read(first) == [[8]])
    }

    @Test func readerThatLeavesKeepsNothing() throws {
        let buffer = Body(maximumReplayBytes: 100)
        let (first, second) = (try buffer.reader(), try buffer.reader())
        buffer.append(bytes(101))
        try buffer.read(first)
        buffer.change { $0.remove(second) }
        #expect(buffer.held == 0)
    }

    @Test func collectedBodyIsKept() throws {
        let buffer = Body(maximumReplayBytes: 100)
        let reader = try buffer.reader()
        buffer.change { $0.isCollected = true }
        buffer.append(bytes(200))
        try buffer.read(reader)
        #expect(buffer.hasBeginning && buffer.held == 200 && buffer.beginning == bytes(200))
    }

    @Test func bodyWithoutReadersIsKept() {
        let buffer = Body(bytes(200), maximumReplayBytes: 100)
        #expect(buffer.hasBeginning)
    }

    @Test func discardedBeginningContainsOnlyWhatHasBeenRead() throws {
        let buffer = Body(bytes(BodyBuffer.sealedSize))
        let reader = try buffer.reader()
        try buffer.read(reader)
        buffer.append([8])
        buffer.change { $0.discardBeginning() }
        #expect(buffer.held == 1)
        #expect(try buffer.read(reader) == [[8]])
    }

    // MARK: Attempts

    @Test func secondAttemptStartsOver() throws {
        let buffer = Body([1, 2])
        let (early, late) = (try buffer.reader(), try buffer.reader())
        try buffer.read(early)
        buffer.change { $0.begin(expecting: 1) }
        #expect(buffer.received == 0 && buffer.held == 0)
        #expect(buffer.lastPosition == BodyPosition(restarts: 1, count: 0))
        buffer.append([3])
        // Only what has been read is void.
        #expect(buffer.position(of: early) == nil)
        #expect(throws: BodyRestarted.self) { try buffer.read(early) }
        #expect(try buffer.read(early) == [[3]])
        #expect(try buffer.read(late) == [[3]])
    }

    @Test func continuedBodyKeepsItsBytes() throws {
        let buffer = Body([1, 2])
        let reader = try buffer.reader()
        try buffer.read(reader)
        buffer.change { $0.proceed(with: nil, to: 3) }
        buffer.append([3])
        #expect(try buffer.read(reader) == [[3]])
        #expect(buffer.progress == DownloadProgress(received: 3, expected: 3))
    }

    // MARK: Consumption

    @Test func slowestReaderThatIsNotSuspendedDeterminesWhatIsUnread() throws {
        let buffer = Body()
        #expect(!buffer.consumption.hasReaders && buffer.consumption.unread == 0)
        let (fast, slow) = (try buffer.reader(), try buffer.reader())
        buffer.append(bytes(10))
        try buffer.read(fast)
        buffer.append([7])
        #expect(buffer.consumption.unread == 11)
        buffer.change { $0.park(slow) }
        #expect(buffer.consumption.unread == 1)
        buffer.change { $0.park(fast) }
        #expect(buffer.consumption.unread == 11)
        try buffer.read(fast)
        #expect(buffer.consumption.unread == 0)
    }

    @Test func readAheadIsLimitedIfAllReadersLimitIt() throws {
        let buffer = Body()
        _ = try buffer.reader(limitsReadAhead: true)
        #expect(buffer.consumption.limitsReadAhead)
        _ = try buffer.reader()
        #expect(!buffer.consumption.limitsReadAhead)
    }
}
