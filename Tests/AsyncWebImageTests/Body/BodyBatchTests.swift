import Testing
import Threading

@testable import AsyncWebImage

/// Waits of decoders, which end when there is a batch of bytes.
@Suite(.timeLimit(.minutes(1)))
struct BodyBatchTests {
    /// Starts to read, and returns when the reader waits.
    private func startWaiting(_ reader: BodyReader, of log: BodyLog, inBatches: Bool) async -> Task<Int, any Error> {
        let reading = Task { try await reader.next(inBatches: inBatches)?.joined().count ?? 0 }
        while !log.hasWaitingReader { await Task.yield() }
        return reading
    }

    @Test func readerOfBatchesIsResumedByOne32ndOfTheBody() async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        log.begin(expecting: 3_200)
        let reader = try #require(log.makeReader())
        let reading = await startWaiting(reader, of: log, inBatches: true)
        _ = log.append(count: 99)
        #expect(log.hasWaitingReader)
        _ = log.append(count: 1)
        #expect(try await reading.value == 100)
    }

    @Test func batchHasAtMost64KiB() async throws {
        let log = BodyLog(maximumReplayBytes: 100 << 20)
        log.begin(expecting: 50 << 20)
        let reader = try #require(log.makeReader())
        let reading = await startWaiting(reader, of: log, inBatches: true)
        _ = log.append(count: (64 << 10) - 1)
        #expect(log.hasWaitingReader)
        _ = log.append(count: 1)
        #expect(try await reading.value == 64 << 10)
    }

    @Test(arguments: [Int?.none, 31]) func anyBytesAreABatchOfAShortBodyOrOneOfUnknownLength(length: Int?) async throws
    {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        log.begin(expecting: length)
        let reader = try #require(log.makeReader())
        let reading = await startWaiting(reader, of: log, inBatches: true)
        _ = log.append(count: 1)
        #expect(try await reading.value == 1)
    }

    @Test func readerThatDoesNotReadInBatchesIsResumedByAnyBytes() async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        log.begin(expecting: 3_200)
        let reader = try #require(log.makeReader())
        let reading = await startWaiting(reader, of: log, inBatches: false)
        _ = log.append(count: 1)
        #expect(try await reading.value == 1)
    }

    @Test func endOfTheBodyCompletesABatch() async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        log.begin(expecting: 3_200)
        let reader = try #require(log.makeReader())
        let reading = await startWaiting(reader, of: log, inBatches: true)
        _ = log.append(count: 1)
        log.finish(.delivered)
        #expect(try await reading.value == 1)
        #expect(try await reader.next(inBatches: true) == nil)
    }

    /// A preview is due.
    @Test func wokenReaderReadsLessThanABatch() async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        log.begin(expecting: 3_200)
        let reader = try #require(log.makeReader())
        let reading = await startWaiting(reader, of: log, inBatches: true)
        _ = log.append(count: 1)
        reader.wake()
        #expect(try await reading.value == 1)
    }

    /// Reading the bytes can release memory for which the transfer waits.
    @Test func pausedTransferCompletesABatch() async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20, bytesInFlight: BytesInFlight(limit: 1, transfers: 1))
        log.begin(expecting: 50 << 20)
        let reader = try #require(log.makeReader())
        let reading = await startWaiting(reader, of: log, inBatches: true)
        var count = 0
        while log.append(count: 1_000) == .more { count += 1_000 }
        #expect(try await reading.value > 0)
        #expect(count > 0)
    }

    /// A body that is not kept whole is read as it arrives, because its bytes are released when they have been read.
    @Test func anyBytesAreABatchOfABodyThatIsNotKeptWhole() async throws {
        let log = BodyLog(maximumReplayBytes: 1)
        log.begin(expecting: 50 << 20)
        let reader = try #require(log.makeReader())
        _ = log.append(count: 64 << 10)
        #expect(try await reader.next(inBatches: true)?.count == 1)
        let reading = await startWaiting(reader, of: log, inBatches: true)
        _ = log.append(count: 1)
        #expect(try await reading.value == 1)
    }
}

extension BodyLog {
    /// Appends `count` bytes.
    fileprivate func append(count: Int) -> BodyDemand { append([UInt8](repeating: 7, count: count).span) }

    /// A Boolean value that indicates whether a reader waits for bytes.
    fileprivate var hasWaitingReader: Bool {
        state.withLock { state in state.readers.values.contains { $0.waiting != nil } }
    }
}
