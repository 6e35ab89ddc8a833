import HTTPTransport
import ImageCodecs
import Testing

@testable import AsyncWebImage

/// A retry whose decode holds memory, and what others need of it before the retry can begin.
@Suite(.timeLimit(.minutes(1)))
struct RetriedDecodeTests {
    enum Obstacle: CaseIterable {
        /// The only slot is taken by a transfer that waits for its decode.
        case slot
        /// The memory for bodies is taken by a body that waits for its decode.
        case memory
    }

    private func pieces(_ bytes: [UInt8]) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: 16 << 10).map { Array(bytes[$0..<min(bytes.count, $0 + 16 << 10)]) }
    }

    @Test(arguments: Obstacle.allCases)
    func decodeReturnsItsMemoryIfItsRetryCannotBegin(obstacle: Obstacle) async throws {
        let (transport, clock) = (ScriptedTransport(), ManualClock())
        let file = try Samples.noise(700, 700)
        let otherFile = obstacle == .slot ? file : try Samples.noise(300, 300)
        let codec = StreamingDecoder()
        try codec.append(file.span.extracting(0..<4_096))
        let plan = try #require(codec.plan)
        var configuration = ImageLoader.Configuration.patient
        switch obstacle {
        case .slot: configuration.downloads.maximumConcurrentDownloads = 1
        case .memory: configuration.downloads.maximumBytesInFlight = otherFile.count
        }
        // What has been decoded cannot be read again.
        configuration.downloads.maximumReplayBytes = 0
        configuration.downloads.retry = ConstantBackoff()
        configuration.decoding.memoryBudget = plan.estimatedBytes + 1_000
        configuration.maximumMemoryCacheBytes = 0
        let loader = ImageLoader(configuration: configuration, transport: transport, clock: clock)
        var exchanges = transport.exchanges.makeAsyncIterator()

        let retried = loader.imageTask(for: ImageRequest("http://a/a"))
        let first = try #require(await exchanges.next())
        first.answer(.ok, [.eTag: "\"1\""])
        for piece in pieces(Array(file.prefix(600 << 10))) { #expect(await first.send(piece)) }
        while await loader.decoder.memoryInUse == 0, !Task.isCancelled { await Task.yield() }
        await loader.coordinator.activity { $0.bytesInFlight == 0 }
        first.fail(.connectionLost)
        await loader.coordinator.activity { $0.backingOff == 1 }

        let other = loader.imageTask(for: ImageRequest("http://b/b"))
        let second = try #require(await exchanges.next())
        second.answer()
        var rest = pieces(otherFile)[...]
        if let header = rest.popFirst() { #expect(second.offer(header)) }
        while await loader.decoder.waitingCount == 0, !Task.isCancelled { await Task.yield() }
        while let piece = rest.first, second.offer(piece) { rest.removeFirst() }
        #expect(rest.isEmpty == (obstacle == .memory))
        if rest.isEmpty { second.finish() }

        // The next attempt is due, and the memory has been held for long.
        await clock.sleeps(until: .seconds(10), ImageDecoder.recallTime)
        clock.advance(by: .seconds(10))
        for piece in rest { #expect(await second.send(piece)) }
        second.finish()
        #expect(try await other.value.byteCount == otherFile.count)

        let third = try #require(await exchanges.next())
        #expect(third.request.headerFields[.range] == nil)
        third.answer()
        for piece in pieces(file) { #expect(await third.send(piece)) }
        third.finish()
        #expect(try await retried.value.byteCount == file.count)
        await loader.coordinator.becomesIdle()
        #expect(await loader.decoder.memoryInUse == 0)
    }
}
