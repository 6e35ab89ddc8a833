import ImageCodecs
import ImageEncoders
import ImageProcessing
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

@Suite(.timeLimit(.minutes(1)))
struct PlaybackTests {
    private let loader = ImageLoader(configuration: .patient)

    /// Frames of one color each, shown for 100, 200, 300… milliseconds.
    static func animation(frames: Int = 3, repetitionCount: Int = 1) throws -> AnimatedImage {
        let size = PixelSize(width: 4, height: 2)
        let encoder = try AnimationEncoder(format: .png, size: size, repetitionCount: repetitionCount)
        for index in 0..<frames { try encoder.append(try frame(index), delay: .milliseconds(100 * (index + 1))) }
        return try AnimatedImage(encoder.finish())
    }

    private static func frame(_ index: Int) throws -> PixelBuffer {
        let pixel = [UInt8(index), 100, 200, 255]
        return try #require(
            PixelBuffer(size: PixelSize(width: 4, height: 2), bytes: (0..<8).flatMap { _ in pixel }))
    }

    @Test func playbackDeliversFramesAtTheirTimes() async throws {
        let clock = ManualClock()
        let playback = AnimationPlayback(try Self.animation(), decoder: loader.decoder, clock: clock)

        #expect(try await playback.next()?.index == 0)
        for (index, offset) in [(1, 100), (2, 300)] {
            async let next = playback.next()
            #expect(await clock.nextSleep()?.offset == .milliseconds(offset))
            clock.advance(by: .milliseconds(offset) - clock.now.offset)
            let frame = try #require(try await next)
            #expect((frame.index, frame.repetition, frame.delay) == (index, 0, .milliseconds(100 * (index + 1))))
            #expect(frame.pixels == (try Self.frame(index)))
        }
        // The last frame has a display time, too.
        async let end = playback.next()
        #expect(await clock.nextSleep()?.offset == .milliseconds(600))
        clock.advance(by: .milliseconds(300))
        #expect(try await end == nil)
    }

    @Test func playbackPlaysAllRepetitions() async throws {
        let clock = ManualClock()
        let image = try Self.animation(frames: 2, repetitionCount: 3)
        var shown: [[Int]] = []
        let playback = AnimationPlayback(image, decoder: loader.decoder, clock: clock)
        while let frame = try await playback.next() {
            shown.append([frame.repetition, frame.index])
            clock.advance(by: frame.delay)
        }
        #expect(shown == [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]])
    }

    @Test func endlessAnimationRepeats() async throws {
        let clock = ManualClock()
        let playback = AnimationPlayback(
            try Self.animation(frames: 2, repetitionCount: 0), decoder: loader.decoder, clock: clock)
        for index in 0..<50 {
            let frame = try #require(try await playback.next())
            #expect((frame.repetition, frame.index) == (index / 2, index % 2))
            clock.advance(by: frame.delay)
        }
    }

    @Test func latePlaybackConsumerGetsNextFrameAtOnce() async throws {
        let clock = ManualClock()
        let playback = AnimationPlayback(try Self.animation(frames: 4), decoder: loader.decoder, clock: clock)
        _ = try await playback.next()
        // The frame is due at 100 ms. A delay of 50 ms is made up for: the next frame is still due at 300 ms.
        clock.advance(by: .milliseconds(150))
        #expect(try await playback.next()?.index == 1)
        async let third = playback.next()
        #expect(await clock.nextSleep()?.offset == .milliseconds(300))
        clock.advance(by: .milliseconds(150))
        #expect(try await third?.index == 2)
        // The frame is due at 600 ms. A delay of ten seconds is not made up for.
        clock.advance(by: .seconds(10))
        #expect(try await playback.next()?.index == 3)
        async let end = playback.next()
        #expect(await clock.nextSleep()?.offset == .milliseconds(10_300 + 400))
        clock.advance(by: .seconds(1))
        #expect(try await end == nil)
    }

    @Test func cancelingEndsPlayback() async throws {
        let clock = ManualClock()
        let stream = loader.play(try Self.animation(), clock: clock)
        let task = Task { () -> Int in
            var count = 0
            for try await _ in stream { count += 1 }
            return count
        }
        _ = await clock.nextSleep()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func cancelingWhileAFrameIsTransformedIsNoFailure() async throws {
        let canceling = ImageTransformation.custom(identifier: "canceling", workingBytes: { _ in 0 }) { _ in
            withUnsafeCurrentTask { $0?.cancel() }
            throw CancellationError()
        }
        let image = try Self.animation().applying([canceling])
        let playback = AnimationPlayback(image, decoder: loader.decoder, clock: ManualClock())
        let task = Task { try await playback.next() }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func brokenFrameEndsPlayback() async throws {
        let clock = ManualClock()
        let encoder = try AnimationEncoder(format: .png, size: PixelSize(width: 4, height: 2))
        for index in 0..<2 { try encoder.append(try Self.frame(index), delay: .zero) }
        var file = try encoder.finish()
        let data = try #require(file.indices.last { file[$0...].starts(with: Array("fdAT".utf8)) })
        file[data + 10] ^= 1
        let playback = AnimationPlayback(try AnimatedImage(file), decoder: loader.decoder, clock: clock)
        #expect(try await playback.next()?.index == 0)
        await #expect(throws: CodecError.self) { try await playback.next() }
    }

    @Test func playbackAboveTheMemoryBudgetIsRejected() async throws {
        let decoder = ImageDecoder(configuration: ImageDecoder.Configuration(memoryBudget: 1_000))
        let playback = AnimationPlayback(try Self.animation(), decoder: decoder, clock: ManualClock())
        await #expect(throws: CodecError.self) { try await playback.next() }
    }
}
