import Testing
import Threading

@testable import AsyncWebImage

/// Readers that start with the first byte again, and wait for the whole body before that.
@Suite(.timeLimit(.minutes(1)))
struct BodyRewindTests {
    private let piece = [UInt8](repeating: 7, count: 64 << 10)

    /// Returns when a reader waits.
    private func waits(_ log: BodyLog) async {
        while log.state.withLock({ $0.waits.isEmpty }), !Task.isCancelled { await Task.yield() }
    }

    @Test func readerIsNotRewoundWhileItHasABatchToRead() async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        log.begin(expecting: 32 * piece.count)
        let reader = try #require(log.makeReader())
        _ = log.append(piece.span)
        #expect(!reader.rewind())
        #expect(try await reader.next()?.count == 1)
        _ = log.append([1].span)
        #expect(reader.rewind())
    }

    @Test func rewoundReaderGetsAllBytesAgainAtTheEndOfTheBody() async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        let reader = try #require(log.makeReader())
        _ = log.append(piece.span)
        _ = log.append([1, 2, 3].span)
        #expect(try await reader.next().map { Array($0.joined()) } == piece + [1, 2, 3])
        #expect(reader.rewind())
        let waiting = Task {
            try await reader.waitForBody()
            return log.end != nil
        }
        await waits(log)
        reader.wake()
        _ = log.append([4].span)
        await waits(log)
        log.finish(.delivered)
        #expect(try await waiting.value)
        #expect(try await reader.all() == piece + [1, 2, 3, 4])
        #expect(!reader.rewind())
    }

    @Test func waitForABodyThatIsNotKeptWholeEndsWhenItMustBeRead() async throws {
        let log = BodyLog(maximumReplayBytes: 100 << 10)
        let reader = try #require(log.makeReader())
        _ = log.append(piece.span)
        #expect(try await reader.next()?.count == 1)
        #expect(reader.rewind())
        let waiting = Task { try await reader.waitForBody() }
        await waits(log)
        _ = log.append(piece.span)
        try await waiting.value
        #expect(try await reader.next().map { Array($0.joined()) } == piece + piece)
        #expect(!reader.rewind())
    }

    @Test func bodyWithoutItsBeginningStartsOverBetweenAttempts() async throws {
        let log = BodyLog(maximumReplayBytes: 0)
        let reader = try #require(log.makeReader())
        _ = log.append(piece.span)
        log.detach()
        // There is something to read.
        #expect(!reader.rewind() && log.received == piece.count)
        _ = try await reader.next()
        #expect(!reader.rewind(onlyBetweenAttempts: true) && log.received == 0)
        await #expect(throws: BodyRestarted.self) { try await reader.next() }
        #expect(log.beginAttempt() == 0)
    }

    @Test func bodyIsKeptDuringAnAttempt() async throws {
        let log = BodyLog(maximumReplayBytes: 0)
        let reader = try #require(log.makeReader())
        _ = log.append(piece.span)
        _ = try await reader.next()
        log.detach()
        #expect(log.beginAttempt() == piece.count)
        #expect(!reader.rewind() && !reader.rewind(onlyBetweenAttempts: true) && log.received == piece.count)
    }

    @Test func canceledWaitForABodyEnds() async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        let reader = try #require(log.makeReader())
        let waiting = Task { try await reader.waitForBody() }
        await waits(log)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }
}
