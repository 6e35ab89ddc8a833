import Testing
import Threading

@testable import AsyncWebImage
import HTTPTransport

/// Waits of decoders, which end when there is a batch of bytes.
@Suite(.timeLimit(.minutes(1)))
struct BodyBatchTests {
    /// A decoder that waits for bytes of a body.
    private struct WaitingReader {
        let reader: BodyReader
        private let reading: Task<Int, any Error>

        /// Creates a reader of a log, or continues with one, and returns when it waits.
        init(of log: BodyLog, _ reader: BodyReader? = nil, inBatches: Bool = true) async throws {
            let reader = try reader ?? #require(log.makeReader())
            self.reader = reader
            reading = Task { try await reader.next(inBatches: inBatches)?.joined().count ?? 0 }
            while !log.hasWaitingReader {
                try Task.checkCancellation()
                await Task.yield()
            }
        }

        /// The number of bytes with which the wait ends.
        var count: Int {
            get async throws {
                // The time limit of the suite ends the wait.
                try await withTaskCancellationHandler {
                    try await reading.value
                } onCancel: {
                    reading.cancel()
                }
            }
        }
    }

    /// Returns a log of a body of this length, if declared.
    private func log(expecting length: Int?, maximumReplayBytes: Int = 100 << 20) -> BodyLog {
        let log = BodyLog(maximumReplayBytes: maximumReplayBytes)
        log.begin(expecting: length)
        return log
    }

    @Test func readerOfBatchesIsResumedByOne32ndOfTheBody() async throws {
        let log = log(expecting: 3_200)
        let waiting = try await WaitingReader(of: log)
        _ = log.append(count: 99)
        #expect(log.hasWaitingReader)
        _ = log.append(count: 1)
        #expect(try await waiting.count == 100)
    }

    @Test func batchHasAtMost64KiB() async throws {
        let log = log(expecting: 50 << 20)
        let waiting = try await WaitingReader(of: log)
        _ = log.append(count: (64 << 10) - 1)
        #expect(log.hasWaitingReader)
        _ = log.append(count: 1)
        #expect(try await waiting.count == 64 << 10)
    }

    @Test(arguments: [Int?.none, 31]) func anyBytesAreABatchOfAShortBodyOrOneOfUnknownLength(length: Int?) async throws
    {
        let log = log(expecting: length)
        let waiting = try await WaitingReader(of: log)
        _ = log.append(count: 1)
        #expect(try await waiting.count == 1)
    }

    @Test func readerThatDoesNotReadInBatchesIsResumedByAnyBytes() async throws {
        let log = log(expecting: 3_200)
        let waiting = try await WaitingReader(of: log, inBatches: false)
        _ = log.append(count: 1)
        #expect(try await waiting.count == 1)
    }

    @Test func endOfTheBodyCompletesABatch() async throws {
        let log = log(expecting: 3_200)
        let waiting = try await WaitingReader(of: log)
        _ = log.append(count: 1)
        log.finish(.delivered)
        #expect(try await waiting.count == 1)
        #expect(try await waiting.reader.next(inBatches: true) == nil)
    }

    /// A preview is due.
    @Test func wokenReaderReadsLessThanABatch() async throws {
        let log = log(expecting: 3_200)
        let waiting = try await WaitingReader(of: log)
        _ = log.append(count: 1)
        waiting.reader.wake()
        #expect(try await waiting.count == 1)
    }

    /// Reading the bytes can release memory for which the transfer waits.
    @Test func pausedTransferCompletesABatch() async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20, bytesInFlight: BytesInFlight(limit: 1, transfers: 1))
        log.begin(expecting: 50 << 20)
        let waiting = try await WaitingReader(of: log)
        var count = 0
        while log.append(count: 1_000) == .more { count += 1_000 }
        #expect(try await waiting.count > 0)
        #expect(count > 0)
    }

    /// A body that is not kept whole is read as it arrives, because its bytes are released when they have been read.
    @Test func anyBytesAreABatchOfABodyThatIsNotKeptWhole() async throws {
        let log = log(expecting: 50 << 20, maximumReplayBytes: 1)
        let reader = try #require(log.makeReader())
        _ = log.append(count: 64 << 10)
        #expect(try await reader.next(inBatches: true)?.count == 1)
        let waiting = try await WaitingReader(of: log, reader)
        _ = log.append(count: 1)
        #expect(try await waiting.count == 1)
    }
}

extension BodyLog {
    /// Appends `count` bytes.
    fileprivate func append(count: Int) -> BodyDemand { append([UInt8](repeating: 7, count: count).span) }

    /// A Boolean value that indicates whether a reader waits for bytes.
    fileprivate var hasWaitingReader: Bool {
        state.withLock { state in !state.waits.isEmpty }
    }
}
