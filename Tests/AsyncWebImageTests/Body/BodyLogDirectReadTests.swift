import HTTPTransport
import Testing
import Threading

@testable import AsyncWebImage

/// Bodies whose bytes the transport writes to the memory of the log.
@Suite(.timeLimit(.minutes(1)))
struct BodyLogDirectReadTests {
    private let piece = [UInt8](repeating: 7, count: 64 << 10)

    /// Offers the first bytes of `bytes` to `log`, which may take `count`; returns the number that it has read, and its
    /// demand.
    private func offer(_ bytes: [UInt8], upTo count: Int, to log: BodyLog) -> (count: Int?, demand: BodyDemand) {
        var taken: Int?
        let demand = log.append(upTo: count) { output in
            let room = min(output.freeCapacity, bytes.count)
            output.withUnsafeMutableBufferPointer { buffer, count in
                _ = buffer[count...].initialize(fromContentsOf: bytes.prefix(room))
                count += room
            }
            taken = room
        }
        return (taken, demand)
    }

    @Test(arguments: [nil, 200_000]) func bytesReadToTheMemoryOfTheBodyAreDeliveredToAll(expected: Int?) async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        log.begin(expecting: expected)
        let early = try #require(log.makeReader())
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 17) }
        let reading = Task { try await early.all() }
        _ = log.append(bytes.span.extracting(..<1_000))
        #expect(offer([], upTo: 199_000, to: log) == (0, .more))
        while log.received < bytes.count {
            let missing = bytes.count - log.received
            let rest = Array(bytes[log.received...].prefix(70_000))
            let (count, demand) = offer(rest, upTo: missing, to: log)
            #expect(count ?? 0 > 0 && demand == .more)
        }
        let late = try #require(log.makeReader())
        log.finish(.delivered)
        #expect(try await reading.value == bytes)
        #expect(try await late.all() == bytes)
        #expect(try await log.wholeBody() == bytes)
    }

    @Test func bodyOfKnownLengthIsReadToOneArray() async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        log.begin(expecting: 200_000)
        let answer = OneShot<ResponseBody>()
        #expect(log.collect(for: answer, isJoined: false))
        _ = log.append(piece.span.extracting(..<1_000))
        func address() -> Int {
            log.state.withLock { $0.buffer.open.withUnsafeBytes { Int(bitPattern: $0.baseAddress) } }
        }
        let start = address()
        #expect(offer([UInt8](repeating: 8, count: 199_000), upTo: 199_000, to: log) == (199_000, .more))
        #expect(log.state.withLock { $0.buffer.open.count } == 200_000)
        #expect(address() == start)
    }

    /// A megabyte is allocated on the basis of the declaration, and eight times as much when it has been received.
    @Test(arguments: [3 << 20, 8 << 20, 9 << 20])
    func longBodyOfKnownLengthIsReadToOneArrayUnlessItIsVeryLong(length: Int) async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        log.begin(expecting: length)
        let answer = OneShot<ResponseBody>()
        #expect(log.collect(for: answer, isJoined: false))
        _ = log.append(piece.span.extracting(..<1_000))
        #expect(log.state.withLock { $0.buffer.open.capacity } < 2 << 20)
        while log.received < length { #expect(offer(piece, upTo: length - log.received, to: log).count ?? 0 > 0) }
        #expect(log.state.withLock { $0.buffer.segments.isEmpty } == (length <= 8 << 20))
        log.finish(.delivered)
        log.resumeBodyWaiters()
        let body = try await answer.value
        #expect(body.bytes.count == length && body.bytes.allSatisfy { $0 == 7 })
    }

    @Test func longBodyThatIsReadMeanwhileIsKeptInPieces() throws {
        let log = BodyLog(maximumReplayBytes: 4 << 20)
        log.begin(expecting: 3 << 20)
        let reader = try #require(log.makeReader())
        while log.received < 3 << 20 { _ = offer(piece, upTo: piece.count, to: log) }
        #expect(log.state.withLock { $0.buffer.open.capacity } < 2 << 20)
        #expect(log.state.withLock { $0.buffer.segments.count } > 10)
        _ = reader
    }

    /// Returns a log with the first 3 MiB of a body of 8 MiB for which a caller waits.
    private func longBody(for answer: OneShot<ResponseBody>) -> BodyLog {
        let log = BodyLog(maximumReplayBytes: 16 << 20)
        log.begin(expecting: 8 << 20)
        #expect(log.collect(for: answer, isJoined: false))
        _ = log.append(piece.span)
        while log.received < 3 << 20 { _ = offer(piece, upTo: (3 << 20) - log.received, to: log) }
        #expect(log.state.withLock { $0.buffer.open.capacity } >= 8 << 20)
        return log
    }

    /// With 3 of 8 MiB, the used part of the array is copied when the first reader takes it; with 5, it is shared.
    @Test(arguments: [3 << 20, 5 << 20])
    func longBodyThatACallerWaitsForIsSharedByItsReaders(count: Int) async throws {
        let answer = OneShot<ResponseBody>()
        let log = longBody(for: answer)
        while log.received < count { _ = offer(piece, upTo: count - log.received, to: log) }
        let readers = try (0..<2).map { _ in try #require(log.makeReader()) }
        var pieces: [[[UInt8]]] = []
        for reader in readers { pieces.append(try #require(try await reader.next())) }
        let addresses = pieces.map { $0.map { $0.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } } }
        #expect(addresses[0] == addresses[1])
        #expect(pieces.allSatisfy { $0.map(\.count) == [count] })
        // The memory for the whole body is not held beside its pieces.
        #expect(log.state.withLock { $0.buffer.open.capacity } == 0)
        var read = pieces.map { $0.reduce([], +) }
        var expected = [UInt8](repeating: 7, count: count)
        while log.received < 8 << 20 {
            let next = [UInt8](repeating: UInt8(truncatingIfNeeded: log.received >> 16), count: 64 << 10)
            expected += next.prefix(offer(next, upTo: next.count, to: log).count ?? 0)
        }
        log.finish(.delivered)
        log.resumeBodyWaiters()
        for (index, reader) in readers.enumerated() { read[index] += try await reader.all() }
        #expect(read.allSatisfy { $0 == expected })
        #expect(try await answer.value.bytes == expected)
    }

    @Test func readerOfALongBodyStartsOverWithIt() async throws {
        let log = longBody(for: OneShot<ResponseBody>())
        let reader = try #require(log.makeReader())
        _ = try await reader.next(limit: 1)
        log.begin(expecting: 100_000)
        await #expect(throws: BodyRestarted.self) { try await reader.next() }
        let other = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 17) }
        while log.received < other.count { _ = offer(Array(other[log.received...]), upTo: other.count, to: log) }
        log.finish(.delivered)
        #expect(try await reader.all() == other)
    }

    @Test func bodyOfUnknownLengthGetsLittleMemoryAfterALongOneWasInterrupted() {
        let log = BodyLog(maximumReplayBytes: 16 << 20)
        log.begin(expecting: 8 << 20)
        log.begin(expecting: nil)
        _ = log.append(piece.span.extracting(..<1_000))
        #expect(log.state.withLock { $0.buffer.open.capacity } < 128 << 10)
    }

    /// libcurl passes on up to 16 KiB at a time, which need not end at the first MiB.
    @Test func longBodyThatArrivesInPiecesIsInOneArray() {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        log.begin(expecting: 8 << 20)
        let answer = OneShot<ResponseBody>()
        #expect(log.collect(for: answer, isJoined: false))
        while log.received < 8 << 20 {
            _ = log.append(piece.span.extracting(..<min(16_000, (8 << 20) - log.received)))
        }
        #expect(log.state.withLock { $0.buffer.segments.isEmpty })
    }

    @Test func bodyOfASlowReaderIsNotRead() throws {
        let log = BodyLog(maximumReplayBytes: 1)
        let reader = try #require(log.makeReader())
        while log.append(piece.span) == .more {}
        #expect(offer(piece, upTo: piece.count, to: log) == (nil, .pause))
        _ = reader
    }

    @Test func readerThatLimitsReadAheadLimitsTheBytesReadToTheMemoryOfTheBody() throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        let reader = try #require(log.makeReader(limitsReadAhead: true))
        _ = log.append(piece.span.extracting(..<1_000))
        #expect(offer(piece, upTo: 100_000, to: log) == (16 << 10, .more))
        #expect(offer(piece, upTo: 100_000, to: log) == (nil, .pause))
        _ = reader
    }
}
