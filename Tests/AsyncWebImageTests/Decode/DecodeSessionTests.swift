import HTTPTransport
import ImageEncoders
import ImageProcessing
import ImageTestSupport
import Testing
import Threading

@testable import AsyncWebImage
import ImageCodecs

/// The previews of a session whose bytes and clock are controlled by the test.
@Suite(.timeLimit(.minutes(1)))
struct DecodeSessionTests {
    private let clock = ManualClock()
    private let log = BodyLog(maximumReplayBytes: 1 << 20)
    private let channel = FrameChannel<ImagePreview>()
    private let file: [UInt8]
    /// The offsets at which the scans of the file begin.
    private let scans: [Int]

    init() throws {
        let file = try Samples.picture(320, 240).encoded(as: .jpeg, quality: 80, isProgressive: true)
        self.file = file
        scans = file.indices.dropLast().filter { file[$0] == 0xFF && file[$0 + 1] == 0xDA }
        _ = try #require(scans.count > 4 ? scans : nil)
    }

    private func start(
        _ policy: PreviewPolicy, with decoder: ImageDecoder = ImageDecoder(), returnsMemory: Bool = true
    ) throws -> Task<DecodedImage, any Error> {
        let reader = try #require(log.makeReader())
        channel.onDemand { reader.wake() }
        let frames = FrameHub<ImagePreview>()
        frames.add(channel, id: 0)
        var session = DecodeSession(
            reader: reader, decoder: decoder, options: DecodeOptions(), policy: policy, frames: frames,
            clock: clock)
        session.returnsMemory = returnsMemory
        return Task { [session] in try await session.run() }
    }

    /// Appends the bytes of `range`; a scan is known to be complete only a few bytes after its end.
    private func append(_ range: Range<Int>) {
        _ = log.append(file.span.extracting(range))
    }

    @Test func delayedPreviewIsShownOnTimeWithoutMoreBytes() async throws {
        let session = try start(PreviewPolicy())
        append(0..<scans[1] + 20)
        #expect(try await channel.next()?.scan == 1)
        let second = Task { try await channel.next()?.scan }
        append(scans[1] + 20..<scans[2] + 20)
        #expect(await clock.nextSleep()?.offset == .milliseconds(100))
        clock.advance(by: .milliseconds(100))
        #expect(try await second.value == 2)
        session.cancel()
        await #expect(throws: CancellationError.self) { try await session.value }
    }

    @Test func previewsOfLargeImagesAreScaledDown() async throws {
        let session = try start(PreviewPolicy(maximumSide: 100))
        append(0..<scans[1] + 20)
        #expect(try await channel.next()?.pixels.size == PixelSize(width: 80, height: 60))
        append(scans[1] + 20..<file.count)
        log.finish(.delivered)
        #expect(try await session.value.pixels.size == PixelSize(width: 320, height: 240))
    }

    /// The rows of the file are columns of the preview.
    @Test func completeRowsOfTurnedPreviewsAreAProportionOfTheirColumns() throws {
        let turned = TestExif.inserted(into: file, .right)
        let codec = StreamingDecoder()
        try codec.append(turned.span.extracting(0..<turned.count - 200))
        try codec.begin()
        let session = DecodeSession(
            reader: try #require(log.makeReader()), decoder: ImageDecoder(), options: DecodeOptions(),
            transformations: [.crop(x: 0, y: 0, width: 60, height: 320)], policy: PreviewPolicy(),
            frames: FrameHub<ImagePreview>())
        let preview = try #require(try session.preview(codec))
        #expect(preview.pixels.size == PixelSize(width: 60, height: 320))
        #expect(preview.completeRows == 60)
    }

    @Test(arguments: [PreviewPolicy.Selection.all, .none])
    func noPreviewIsMadeJustBeforeFinalImage(selection: PreviewPolicy.Selection) async throws {
        let session = try start(PreviewPolicy(selection: selection))
        let next = Task { try await channel.next() }
        while !channel.isWanted, !Task.isCancelled { await Task.yield() }
        append(0..<file.count)
        log.finish(.delivered)
        _ = try await session.value
        channel.finish(.failure(CancellationError()))
        await #expect(throws: CancellationError.self) { try await next.value }
    }

    private func plan() throws -> DecodePlan {
        let codec = StreamingDecoder()
        try codec.append(file.span)
        return try #require(codec.plan)
    }

    /// A server could otherwise keep the images of all others from being decoded, with a few bytes.
    @Test(arguments: [0, 1]) func memoryOfADecodeThatWaitsForBytesIsReturnedToOthers(trickle: Int) async throws {
        let budget = try plan().estimatedBytes
        let decoder = ImageDecoder(configuration: .init(memoryBudget: budget), clock: Stopwatch(clock))
        log.begin(expecting: file.count)
        let session = try start(PreviewPolicy(selection: .none), with: decoder)
        append(0..<scans[1])
        while await decoder.memoryInUse == 0, !Task.isCancelled { await Task.yield() }
        while log.state.withLock({ $0.waits.isEmpty }), !Task.isCancelled { await Task.yield() }
        let other = Task { try await decoder.withMemory(budget) { await decoder.memoryInUse } }
        await clock.sleeps(until: ImageDecoder.recallTime)
        append(scans[1]..<scans[1] + trickle)
        clock.advance(by: ImageDecoder.recallTime)
        #expect(try await other.value == budget)
        // It is not requested again before the body is there.
        append(scans[1] + trickle..<file.count - 1)
        #expect(await decoder.memoryInUse == 0)
        append(file.count - 1..<file.count)
        log.finish(.delivered)
        #expect(try await session.value.pixels == StreamingDecoder.decode(file.span).pixels)
        #expect(await decoder.memoryInUse == 0)
    }

    @Test func memoryOfADecodeThatWaitsForARetryIsReturnedAgain() async throws {
        let budget = try plan().estimatedBytes
        let decoder = ImageDecoder(configuration: .init(memoryBudget: budget), clock: Stopwatch(clock))
        log.begin(expecting: file.count)
        let session = try start(PreviewPolicy(selection: .none), with: decoder, returnsMemory: false)
        append(0..<scans[1])
        while await decoder.memoryInUse == 0, !Task.isCancelled { await Task.yield() }
        let other = Task { try await decoder.withMemory(budget) {} }
        await clock.sleeps(until: ImageDecoder.recallTime)
        log.detach()
        clock.advance(by: ImageDecoder.recallTime)
        try await other.value
        #expect(log.beginAttempt() == scans[1])
        append(scans[1]..<file.count)
        log.finish(.delivered)
        #expect(try await session.value.pixels == StreamingDecoder.decode(file.span).pixels)
    }

    /// A header that is found with the end of the file only, behind metadata.
    @Test func decodeMemoryIsGrantedWhenHeaderIsLast() async throws {
        var gif = try Samples.picture(320, 240).encoded(as: .gif)
        let screen = 13 + (gif[10] & 0x80 == 0 ? 0 : 3 << (Int(gif[10] & 7) + 1))
        let comment = (0..<2_000).flatMap { _ in [UInt8](repeating: 255, count: 256) }
        gif = gif[..<screen] + [0x21, 0xFE] + comment + [0] + gif[screen...]
        let reader = try #require(log.makeReader())
        let decoder = ImageDecoder(configuration: .init(threadCount: 1, memoryBudget: 100_000))
        let session = DecodeSession(
            reader: reader, decoder: decoder, options: DecodeOptions(), policy: PreviewPolicy(),
            frames: FrameHub(), clock: clock)
        let image = Task { try await session.run() }
        // The header is searched for again after an eighth more, which does not arrive.
        _ = log.append(gif.span.extracting(0..<screen + 500_000))
        while !log.state.withLock({ !$0.waits.isEmpty }), !Task.isCancelled {
            await Task.yield()
        }
        _ = log.append(gif.span.extracting(screen + 500_000..<gif.count))
        log.finish(.delivered)
        await #expect {
            try await image.value
        } throws: { error in
            if case .overLimit(.memory, _, 100_000)? = error as? CodecError { true } else { false }
        }
    }
}
