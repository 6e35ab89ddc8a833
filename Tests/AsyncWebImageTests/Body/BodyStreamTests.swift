import Testing
import Threading

@testable import AsyncWebImage

@Suite(.timeLimit(.minutes(1)))
struct BodyFeedTests {
    private let log = BodyLog(maximumReplayBytes: 1 << 20)
    private let feed = BodyStream()

    /// A consumer that waits for the next part.
    private func waitingConsumer() async throws -> Task<BodyStream.Part?, any Error> {
        feed.attach(try #require(log.makeReader()), of: log, isJoined: false)
        let consumer = Task { [feed] in try await feed.next() }
        while !log.state.withLock({ !$0.waits.isEmpty }), !Task.isCancelled {
            await Task.yield()
        }
        return consumer
    }

    @Test func waitingBodyConsumerReceivesTheError() async throws {
        let consumer = try await waitingConsumer()
        // The log itself does not end: the consumer must not take this for the end of a whole body.
        feed.finish(.failure(ImageError.shutDown))
        await #expect(throws: ImageError.self) { try await consumer.value }
        #expect(try await feed.next() == nil)
    }

    @Test func canceledBodyConsumerThrowsCancellationError() async throws {
        let consumer = try await waitingConsumer()
        consumer.cancel()
        await #expect(throws: CancellationError.self) { try await consumer.value }
    }

    @Test func bodyErrorIsThrownBeforeRemainingBytes() async throws {
        feed.attach(try #require(log.makeReader()), of: log, isJoined: false)
        _ = log.append([1, 2, 3].span)
        feed.finish(.failure(CancellationError()))
        await #expect(throws: CancellationError.self) { try await feed.next() }
        #expect(try await feed.next() == nil)
    }

    @Test func finishedBodyStreamAttachesNoReader() throws {
        feed.finish(.failure(CancellationError()))
        feed.attach(try #require(log.makeReader()), of: log, isJoined: false)
        #expect(log.state.withLock { $0.buffer.readers.isEmpty })
    }
}
