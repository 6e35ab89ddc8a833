import Testing

@testable import AsyncWebImage
import ImageCodecs

@Suite(.timeLimit(.minutes(1)))
struct FrameChannelTests {
    @Test func waitingFrameConsumerCallsANewDemandClosure() async throws {
        let channel = FrameChannel<Int>()
        async let next = channel.next()
        while !channel.isWanted, !Task.isCancelled { await Task.yield() }
        channel.onDemand { [weak channel] in channel?.publish(7) }
        #expect(try await next == 7)
    }

    @Test(arguments: [true, false]) func newestFrameComesBeforeErrorUnlessFailingAtOnce(failsAtOnce: Bool) async throws
    {
        let channel = FrameChannel<Int>(failsAtOnce: failsAtOnce)
        channel.publish(7)
        channel.finish(.failure(CancellationError()))
        if !failsAtOnce { #expect(try await channel.next() == 7) }
        await #expect(throws: CancellationError.self) { try await channel.next() }
        #expect(try await channel.next() == nil)
    }

    private func frame(_ rows: Int) -> ImagePreview {
        ImagePreview(PreviewPixels(pixels: Samples.picture(2, 2), completeRows: rows, scan: nil))
    }

    @Test func slowConsumerGetsTheNewestFrameOnly() async throws {
        let channel = FrameChannel<ImagePreview>()
        for rows in 1...5 { channel.publish(frame(rows)) }
        #expect(try await channel.next()?.completeRows == 5)
    }

    @Test func frameChannelEndsOnceAfterTheLastFrame() async throws {
        let channel = FrameChannel<ImagePreview>()
        channel.finish(.success(frame(9)))
        channel.finish(.failure(CancellationError()))
        channel.publish(frame(1))
        #expect(try await channel.next()?.completeRows == 9)
        #expect(try await channel.next() == nil)
        #expect(try await channel.next() == nil)
    }

    @Test func frameChannelThrowsItsErrorOnce() async throws {
        let channel = FrameChannel<ImagePreview>()
        channel.publish(frame(1))
        channel.finish(.failure(CancellationError()))
        await #expect(throws: CancellationError.self) { try await channel.next() }
        #expect(try await channel.next() == nil)
    }

    @Test func waitingFrameConsumerCountsAsDemand() async throws {
        let channel = FrameChannel<ImagePreview>()
        let demanded = OneShot<Void>()
        channel.onDemand { demanded.resolve(.success(())) }
        let consumer = Task { try await channel.next()?.completeRows }
        try await demanded.value
        #expect(channel.isWanted)
        channel.publish(frame(3))
        #expect(try await consumer.value == 3)
        #expect(!channel.isWanted)
    }

    @Test func allConsumersOfAFrameChannelReachTheEnd() async throws {
        let channel = FrameChannel<ImagePreview>()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    var count = 0
                    while let frame = try await channel.next() { count += frame.completeRows == 9 ? 1 : 0 }
                    return count
                }
            }
            while !channel.isWanted, !Task.isCancelled { await Task.yield() }
            channel.finish(.success(frame(9)))
            let finals = try await group.reduce(0, +)
            #expect(finals == 1)
        }
    }

    @Test func finishedFrameChannelReleasesItsDemandClosure() {
        final class Probe: Sendable {}
        let channel = FrameChannel<ImagePreview>()
        weak let probe: Probe?
        do {
            let strong = Probe()
            probe = strong
            channel.finish(.failure(CancellationError()))
            channel.onDemand { withExtendedLifetime(strong) {} }
        }
        #expect(probe == nil)
    }
}
