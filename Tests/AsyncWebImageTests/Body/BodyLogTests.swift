import HTTPTransport
import HTTPTypes
import Testing
import Threading

@testable import AsyncWebImage

@Suite(.timeLimit(.minutes(1)))
struct BodyLogTests {
    private final class Probe: Transfer {
        let resumes = Locked(0)
        func cancel() {}
        func resume() { resumes.withLock { $0 += 1 } }
    }

    private let piece = [UInt8](repeating: 7, count: 64 << 10)

    @Test func everyReaderGetsAllBytesInOrder() async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        let early = try #require(log.makeReader())
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 17) }
        let reading = Task { try await early.all() }
        for start in stride(from: 0, to: bytes.count, by: 777) {
            _ = log.append(Array(bytes[start..<min(start + 777, bytes.count)]).span)
        }
        let late = try #require(log.makeReader())
        log.finish(.delivered)

        #expect(try await reading.value == bytes)
        #expect(try await late.all() == bytes)
        #expect(try await log.wholeBody() == bytes)
    }

    @Test(arguments: [1, 20_000, 300_000]) func bodyTakenAsAWholeIsDeliveredToAll(count: Int) async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        let early = try #require(log.makeReader())
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 17) }
        let reading = Task { try await early.all() }
        guard case .more = log.append(whole: bytes) else {
            Issue.record("the log did not accept the body")
            return
        }
        let late = try #require(log.makeReader())
        log.finish(.delivered)
        #expect(try await reading.value == bytes)
        #expect(try await late.all() == bytes)
        #expect(try await log.wholeBody() == bytes)
    }

    @Test func bodyReadersReceiveTheErrorOfAnIncompleteBody() async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        let reader = try #require(log.makeReader())
        _ = log.append(piece.span)
        log.finish(.failure(.shutDown))
        #expect(try await reader.next()?.count == 1)
        await #expect(throws: ImageError.self) { try await reader.next() }
    }

    /// The second start can come before the reader has noticed the first one.
    @Test(arguments: 1...3) func bodyThatStartsOverMoreThanOnceIsReadFromItsBeginningOnce(restarts: Int) async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        let reader = try #require(log.makeReader())
        _ = log.append([1, 2].span)
        #expect(try await reader.next() == [[1, 2]])
        for number in 1...restarts {
            log.begin(expecting: nil)
            _ = log.append([UInt8(10 * number)].span)
        }
        log.finish(.delivered)
        await #expect(throws: BodyRestarted.self) { try await reader.next() }
        #expect(try await reader.all() == [UInt8(10 * restarts)])
    }

    @Test func largeBodyIsReleasedAsReadAndCannotBeJoinedLater() async throws {
        let log = BodyLog(maximumReplayBytes: 100 << 10)
        let reader = try #require(log.makeReader())
        _ = log.append(piece.span)
        #expect(log.makeReader() != nil)
        _ = log.append(piece.span)
        _ = try await reader.next()
        #expect(log.makeReader() == nil)
        #expect(!log.collect(for: OneShot(), isJoined: true))
    }

    @Test func collectingALargeBodyKeepsAllItsBytes() async throws {
        let log = BodyLog(maximumReplayBytes: 1)
        let answer = OneShot<ResponseBody>()
        #expect(log.collect(for: answer, isJoined: false))
        let reader = try #require(log.makeReader())
        for _ in 0..<40 { #expect(log.append(piece.span) == .more) }
        _ = try await reader.next()
        log.finish(.delivered)
        log.resumeBodyWaiters()
        #expect(try await answer.value.bytes.count == 40 * piece.count)
    }

    @Test func slowReaderPausesTheTransferUntilItHasCaughtUp() async throws {
        let log = BodyLog(maximumReplayBytes: 1)
        let transfer = Probe()
        log.attach(transfer)
        let reader = try #require(log.makeReader())
        var taken = 0
        while log.append(piece.span) == .more { taken += 1 }

        #expect(taken * piece.count <= 2 << 20)
        #expect(transfer.resumes.withLock { $0 } == 0)
        _ = try await reader.next()
        #expect(transfer.resumes.withLock { $0 } == 1)
        #expect(log.append(piece.span) == .more)
    }

    @Test func transferWaitsForReaderThatLimitsReadAhead() async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        let transfer = Probe()
        log.attach(transfer)
        let frugal = try #require(log.makeReader(limitsReadAhead: true))
        #expect(log.append(piece.span) == .more)
        #expect(log.append(piece.span) == .pause)
        _ = try await frugal.next()
        #expect(transfer.resumes.withLock { $0 } == 1)

        #expect(log.append(piece.span) == .more)
        #expect(log.append(piece.span) == .pause)
        #expect(log.makeReader() != nil)
        #expect(transfer.resumes.withLock { $0 } == 2)
    }

    @Test func releasedBodyReaderDoesNotDelayTheTransfer() throws {
        let log = BodyLog(maximumReplayBytes: 1)
        let transfer = Probe()
        log.attach(transfer)
        do {
            let reader = try #require(log.makeReader())
            while log.append(piece.span) == .more {}
            withExtendedLifetime(reader) {}
        }
        #expect(transfer.resumes.withLock { $0 } == 1)
    }

    @Test func canceledBodyReaderStopsWaiting() async throws {
        let log = BodyLog(maximumReplayBytes: 1)
        let reader = try #require(log.makeReader())
        let reading = Task { try await reader.next() }
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
    }

    @Test func wokenBodyReaderReturnsWithoutBytes() async throws {
        let log = BodyLog(maximumReplayBytes: 1)
        let reader = try #require(log.makeReader())
        reader.wake()
        #expect(try await reader.next()?.isEmpty == true)
    }

    @Test func hugeContentLengthReservesAboutOneMebibyte() {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        log.begin(expecting: 1 << 40)
        _ = log.append(piece.span.extracting(0..<1))
        let capacity = log.state.withLock { $0.buffer.open.capacity }
        #expect(capacity >= 1 << 20 && capacity <= 2 << 20)
    }

    @Test func smallBodyPiecesAreStoredWithoutExcessCapacity() async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        log.begin(expecting: 1 << 20)
        let reader = try #require(log.makeReader())
        var capacity = 0
        for _ in 0..<100 {
            _ = log.append(piece.span.extracting(0..<1_400))
            capacity += try await reader.next()?.reduce(0) { $0 + $1.capacity } ?? 0
        }
        #expect(capacity < 100 * 2_800)
        log.finish(.delivered)
        #expect(try await log.wholeBody() == [UInt8](repeating: 7, count: 140_000))
    }

    /// The memory overhead of a log's pieces and of their list.
    private static let arrayOverhead = 48

    @Test(arguments: [1, 7, 1_400]) func immediatelyReadBodyPiecesHaveLittleMemoryOverhead(size: Int) async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        let reader = try #require(log.makeReader())
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        var read: [UInt8] = []
        var lateReaders: [BodyReader] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            _ = log.append(bytes.span.extracting(start..<min(start + size, bytes.count)))
            for next in try await reader.next() ?? [] { read += next }
            if lateReaders.count * 20_011 <= start { lateReaders.append(try #require(log.makeReader())) }
        }
        let taken = log.state.withLock { state in
            state.buffer.segments.reduce(state.buffer.open.capacity) { $0 + $1.capacity + Self.arrayOverhead }
        }
        #expect(taken <= 2 * bytes.count + 128 << 10)
        log.finish(.delivered)
        #expect(read == bytes)
        for late in lateReaders { #expect(try await late.all() == bytes) }
        #expect(try await log.wholeBody() == bytes)
    }

    @Test func independentReadersReceiveEverySmallPiece() async throws {
        let log = BodyLog(maximumReplayBytes: 50_000)
        let readers = try (0..<4).map { _ in try #require(log.makeReader()) }
        let bytes = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        var read = [[UInt8]](repeating: [], count: readers.count)
        var (start, step) = (0, 0)
        while start < bytes.count {
            step += 1
            let size = min(step % 11 == 0 ? 9_000 : step * 37 % 1_500 + 1, bytes.count - start)
            #expect(log.append(bytes.span.extracting(start..<start + size)) == .more)
            start += size
            for (number, reader) in readers.enumerated() where step % (number * number + 1) == 0 {
                let limit = step % 3 == 0 ? 1 : Int.max
                for next in try await reader.next(limit: limit) ?? [] { read[number] += next }
            }
        }
        log.finish(.delivered)
        for (number, reader) in readers.enumerated() { read[number] += try await reader.all() }
        for whole in read { #expect(whole == bytes) }
    }

    @Test func smallPiecesOfALargeBodyAreDroppedAsTheyAreRead() async throws {
        let log = BodyLog(maximumReplayBytes: 100)
        let reader = try #require(log.makeReader())
        for _ in 0..<1_000 {
            _ = log.append(piece.span.extracting(0..<101))
            _ = try await reader.next()
            #expect(log.held == 0)
        }
        #expect(log.received == 101_000)
    }

    @Test func wholeBodyIsJoinedForEveryReader() async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        for _ in 0..<10 { _ = log.append(piece.span) }
        log.finish(.delivered)
        let whole = [UInt8](repeating: 7, count: 10 * piece.count)
        #expect(try await log.wholeBody() == whole)
        let late = try #require(log.makeReader())
        #expect(try await log.wholeBody() == whole)
        #expect(try await late.all() == whole)
    }

    @Test func singlePieceBodyIsDeliveredToAllWaitersOnCompletion() async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        let answers = (0..<3).map { _ in OneShot<ResponseBody>() }
        for answer in answers { #expect(log.collect(for: answer, isJoined: true)) }
        _ = log.append(piece.span)
        #expect(answers.map(\.isResolved) == [false, false, false])
        log.finish(.delivered)
        for answer in answers { #expect(try await answer.value.bytes == piece) }
    }

    @Test func bodyPiecesAreNotJoinedOnTheTransportThread() async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        let answer = OneShot<ResponseBody>()
        #expect(log.collect(for: answer, isJoined: false))
        for _ in 0..<3 { _ = log.append(piece.span) }
        log.finish(.delivered)
        #expect(!answer.isResolved)
        log.resumeBodyWaiters()
        #expect(try await answer.value.bytes.count == 3 * piece.count)
    }

    @Test func bodyWhosePiecesAreBeingJoinedIsPending() async {
        let pending = PendingAnswers()
        let log = BodyLog(maximumReplayBytes: 1 << 20, pendingAnswers: pending)
        let answer = OneShot<ResponseBody>()
        #expect(log.collect(for: answer, isJoined: false))
        for _ in 0..<3 { _ = log.append(piece.span) }
        log.finish(.delivered)
        log.resumeBodyWaiters()
        await withCheckedContinuation { continuation in pending.whenNone { continuation.resume() } }
        #expect(answer.success?.bytes.count == 3 * piece.count)
    }

    @Test func removedBodyWaiterReceivesNothing() async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        let answers = (0..<3).map { _ in OneShot<ResponseBody>() }
        for answer in answers { #expect(log.collect(for: answer, isJoined: false)) }
        log.removeBodyWaiter(for: answers[0])
        log.removeBodyWaiter(for: answers[2])
        log.finish(.failure(.shutDown))
        #expect(answers.map(\.isResolved) == [false, true, false])
        await #expect(throws: ImageError.self) { try await answers[1].value }
    }

    @Test func bytesReadBeforeTransferIsAttachedResumeItLater() async throws {
        let log = BodyLog(maximumReplayBytes: 1)
        let transfer = Probe()
        let reader = try #require(log.makeReader())
        while log.append(piece.span) == .more {}
        _ = try await reader.next()
        log.attach(transfer)
        #expect(transfer.resumes.withLock { $0 } == 1)
    }

    @Test func finishedTransferIsNotResumedInsteadOfTheNext() async throws {
        let log = BodyLog(maximumReplayBytes: 1)
        let reader = try #require(log.makeReader())
        let (first, second) = (Probe(), Probe())
        log.attach(first)
        while log.append(piece.span) == .more {}
        log.detach()
        #expect(log.append(piece.span) == .pause)
        _ = try await reader.next()
        #expect(first.resumes.withLock { $0 } == 0)
        log.attach(second)
        #expect(second.resumes.withLock { $0 } == 1)
    }

    @Test func suspendedReaderDoesNotDelayOtherReaders() async throws {
        let log = BodyLog(maximumReplayBytes: 1)
        let transfer = Probe()
        log.attach(transfer)
        let suspended = try #require(log.makeReader())
        let reading = try #require(log.makeReader())
        while log.append(piece.span) == .more {}
        _ = try await reading.next()
        #expect(transfer.resumes.withLock { $0 } == 0)

        suspended.suspendReading()
        #expect(transfer.resumes.withLock { $0 } == 1)
        var count = 0
        for _ in 0..<100 {
            #expect(log.append(piece.span) == .more)
            count += try await reading.next()?.count ?? 0
        }
        #expect(count == 100)
        // It counts again as soon as it reads, and has missed nothing.
        let missed = try await suspended.next() ?? []
        #expect(missed.joined().count == log.received)
        while log.append(piece.span) == .more { _ = try await reading.next() }
        #expect(log.received <= 140 * piece.count)
    }

    @Test func transferPausesWhileAllReadersAreSuspended() throws {
        let log = BodyLog(maximumReplayBytes: 1)
        let readers = try (0..<2).map { _ in try #require(log.makeReader()) }
        for reader in readers { reader.suspendReading() }
        var taken = 0
        while log.append(piece.span) == .more { taken += 1 }
        #expect(taken * piece.count <= 1 << 20)
        withExtendedLifetime(readers) {}
    }
}

extension BodyReader {
    /// Returns all bytes up to the end of the body.
    func all() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let pieces = try await next() {
            for piece in pieces { bytes += piece }
        }
        return bytes
    }
}

extension BodyLog.End {
    /// Returns a log with a complete body.
    static var delivered: Self {
        guard let url = try? HTTPURL("http://example.org/") else { return .failure(.invalidURL("")) }
        return .success(
            Delivery(head: ResponseHead(response: HTTPResponse(status: .ok), url: url), metrics: TransferMetrics()))
    }
}

extension BodyLog {
    /// Returns the result of requesting the bytes now.
    func wholeBody() async throws -> [UInt8] {
        let answer = OneShot<ResponseBody>()
        guard collect(for: answer, isJoined: true) else { throw CancellationError() }
        return try await answer.value.bytes
    }
}
