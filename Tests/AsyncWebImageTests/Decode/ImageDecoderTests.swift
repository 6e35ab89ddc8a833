import ImageEncoders
import TestSupport
import Testing
import Threading

@testable import AsyncWebImage
import ImageCodecs

@Suite(.timeLimit(.minutes(1)))
struct ImageDecoderTests {
    private func decoder(budget: Int) -> ImageDecoder {
        ImageDecoder(configuration: .init(threadCount: 2, memoryBudget: budget))
    }

    @Test func decodeMemoryIsReleasedAfterAnError() async throws {
        struct Failure: Error {}
        let decoder = decoder(budget: 100)
        await #expect(throws: Failure.self) {
            try await decoder.withMemory(100) { throw Failure() }
        }
        #expect(await decoder.memoryInUse == 0)
    }

    @Test func decodeMemoryIsGrantedInOrder() async throws {
        let decoder = decoder(budget: 100)
        let entered = OneShot<Void>()
        let leave = OneShot<Void>()
        let first = Task {
            try await decoder.withMemory(80) {
                entered.resolve(.success(()))
                try await leave.value
            }
        }
        try await entered.value
        let second = Task { try await decoder.withMemory(80) { await decoder.memoryInUse } }
        leave.resolve(.success(()))
        #expect(try await second.value == 80)
        try await first.value
        #expect(await decoder.memoryInUse == 0)
    }

    @Test func cancelingAWaitingMemoryRequestWithdrawsIt() async throws {
        let decoder = decoder(budget: 100)
        try await decoder.withMemory(100) {
            let waiting = Task { try await decoder.withMemory(10) {} }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
        #expect(await decoder.memoryInUse == 0)
        try await decoder.withMemory(100) {}
    }

    /// A large request keeps those behind it from memory that is enough for them.
    @Test func cancelingTheFirstWaitingMemoryRequestGrantsThoseBehindIt() async throws {
        let decoder = decoder(budget: 100)
        try await decoder.withMemory(50) {
            let large = Task { try await decoder.withMemory(80) {} }
            await decoder.requests(wait: 1)
            let small = (0..<2).map { _ in Task { try await decoder.withMemory(20) {} } }
            await decoder.requests(wait: 3)
            large.cancel()
            await #expect(throws: CancellationError.self) { try await large.value }
            try #require(await decoder.waitingCount == 0)
            for task in small { try await task.value }
            #expect(await decoder.memoryInUse == 50)
        }
        #expect(await decoder.memoryInUse == 0)
    }

    /// Calls `body` while a decode holds all memory, which can be recalled, and another one has begun to wait.
    private func withContention(
        _ body: (ImageDecoder, ManualClock, MemoryRecall, _ waiting: Task<Void, any Error>) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        let decoder = ImageDecoder(configuration: .init(memoryBudget: 100), clock: Stopwatch(clock))
        let recall = MemoryRecall {}
        try await decoder.withMemory(100, recall: recall) {
            let waiting = Task { try await decoder.withMemory(10) {} }
            await clock.sleeps(until: ImageDecoder.recallTime)
            try await body(decoder, clock, recall, waiting)
        }
    }

    @Test func memoryIsRecalledWhileOthersWait() async throws {
        try await withContention { _, clock, recall, waiting in
            #expect(!recall.isRequested)
            clock.advance(by: ImageDecoder.recallTime)
            while !recall.isRequested, !Task.isCancelled { await Task.yield() }
            #expect(recall.isRequested)
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
    }

    @Test func memoryIsNotRecalledWhenNoOtherWaitsAnymore() async throws {
        try await withContention { decoder, clock, recall, waiting in
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            clock.advance(by: ImageDecoder.recallTime)
            for _ in 0..<100 { _ = await decoder.memoryInUse }
            #expect(!recall.isRequested)
        }
    }

    @Test func decodeThatNeedsMoreThanTheMemoryBudgetFails() async throws {
        let decoder = decoder(budget: 100)
        await #expect(throws: CodecError.overLimit(.memory, value: 101, limit: 100)) {
            try await decoder.withMemory(101) {}
        }
    }

    /// A decode that has requested memory from the actor must not run on the actor.
    @Test func concurrentDecodesAreLimitedByThreadCount() async throws {
        let decoder = ImageDecoder(configuration: .init(threadCount: 2))
        let arrivals = [BlockingQueue<Void>(), BlockingQueue<Void>()]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<2 {
                group.addTask(executorPreference: decoder.threads) {
                    try await decoder.withMemory(10) {
                        // Occupies its thread until the other one does the same.
                        arrivals[index].close()
                        _ = arrivals[1 - index].next()
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func performedWorkRunsOnTheDecodersThreadsAndReturnsItsResult() async throws {
        let decoder = decoder(budget: 100)
        let name = await decoder.perform { ProcessState.threadName }
        #expect(name == "webimage-decode")
    }

    @Test func errorsOfPerformedWorkAreThrown() async throws {
        struct Failure: Error {}
        let decoder = decoder(budget: 100)
        await #expect(throws: Failure.self) { try await decoder.perform { () throws(Failure) in throw Failure() } }
    }

    // MARK: Memory of pixels

    /// Returns a decoder for which no time passes, so that its memory is not released.
    private func stoppedDecoder() -> ImageDecoder {
        ImageDecoder(configuration: ImageDecoder.Configuration(), clock: Stopwatch(ManualClock()))
    }

    /// Returns the decoded image and the address of its pixels.
    private func decode(_ file: [UInt8], with decoder: ImageDecoder) throws -> (image: DecodedImage, address: UInt) {
        let codec = decoder.codec(DecodeOptions())
        try codec.append(file.span)
        let image = try codec.finish()
        return (image, image.pixels.bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) })
    }

    @Test func imageReusesTheMemoryOfAReleasedOne() throws {
        let decoder = stoppedDecoder()
        let pictures = try [Samples.file(.png, 640, 480), Samples.file(.png, 480, 640)]
        let expected = try pictures.map { try StreamingDecoder.decode($0.span).pixels }
        let first = try decode(pictures[0], with: decoder).address
        #expect(decoder.pixels.byteCount >= 640 * 480 * 4)
        let second = try decode(pictures[1], with: decoder)
        #expect(second.address == first)
        #expect(second.image.pixels == expected[1])
    }

    @Test func memoryIsReusedEvenIfTheCodecStillExists() throws {
        let decoder = stoppedDecoder()
        let file = try Samples.file(.png, 640, 480)
        let codec = decoder.codec(DecodeOptions())
        try codec.append(file.span)
        let first = try codec.finish().pixels.bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        let second = try withExtendedLifetime(codec) { try decode(file, with: decoder).address }
        #expect(second == first)
    }

    @Test func imageThatACallerKeepsIsNotOverwritten() throws {
        let decoder = stoppedDecoder()
        let pictures = try [Samples.file(.png, 640, 480), Samples.file(.png, 480, 640)]
        let expected = try pictures.map { try StreamingDecoder.decode($0.span).pixels }
        let images = try pictures.map { try decode($0, with: decoder).image.pixels }
        #expect(images == expected)
    }

    @Test func memoryPressureReleasesThePixelsKeptForReuse() throws {
        let decoder = stoppedDecoder()
        _ = try decode(Samples.file(.png, 640, 480), with: decoder)
        #expect(decoder.pixels.byteCount >= 640 * 480 * 4)
        ImageLoader.releaseMemory(of: MemoryCache(maximumBytes: 0), BufferPool(.none), decoder.pixels)
        #expect(decoder.pixels.byteCount == 0)
    }

    @Test func pixelsThatAreNotReusedAreReleased() async throws {
        let clock = ManualClock()
        let decoder = ImageDecoder(configuration: ImageDecoder.Configuration(), clock: Stopwatch(clock))
        _ = try decode(Samples.file(.png, 640, 480), with: decoder)
        _ = await clock.nextSleep()
        clock.advance(by: BufferPool.idleTime)
        while decoder.pixels.byteCount > 0, !Task.isCancelled { await Task.yield() }
        #expect(decoder.pixels.byteCount == 0)
    }

    @Test func previewLeavesItsMemory() throws {
        let decoder = stoppedDecoder()
        let file = try Samples.picture(640, 480).encoded(as: .jpeg, isProgressive: true)
        let codec = decoder.codec(DecodeOptions())
        try codec.append(file.span.extracting(first: file.count * 3 / 4))
        try codec.begin()
        #expect(try codec.preview() != nil)
        let kept = decoder.pixels.byteCount
        #expect(kept >= 640 * 480 * 4)
        // No one has the first preview anymore.
        try codec.append(file.span.extracting(file.count * 3 / 4..<file.count - 100))
        #expect(try codec.preview() != nil)
        #expect(decoder.pixels.byteCount == kept)
    }

    @Test func partialImageLeavesItsMemory() throws {
        let decoder = stoppedDecoder()
        let file = try Samples.file(.png, 640, 480)
        let codec = decoder.codec(DecodeOptions(allowsPartial: true))
        try codec.append(file.span.extracting(first: file.count / 2))
        #expect(try codec.finish().isPartial)
        #expect(decoder.pixels.byteCount >= 640 * 480 * 4)
    }
}

extension ImageDecoder {
    /// Returns when `count` requests wait for memory.
    fileprivate func requests(wait count: Int) async {
        while waitingCount < count, !Task.isCancelled { await Task.yield() }
    }
}
