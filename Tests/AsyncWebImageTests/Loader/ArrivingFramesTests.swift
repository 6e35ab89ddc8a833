import ImageCodecs
import ImageEncoders
import LoopbackOrigin
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// Animations that are shown while they are downloaded.
@Suite(.timeLimit(.minutes(2)))
struct ArrivingFramesTests {
    typealias Response = LoopbackOrigin.Response

    static let formats: [ImageFormat] = [.gif, .png, .webp]

    /// Returns a file of four frames, and the offsets at which they are complete.
    private static func file(
        _ format: ImageFormat, _ size: PixelSize = PixelSize(width: 32, height: 24)
    ) throws -> (bytes: [UInt8], ends: [Int]) {
        let encoder = try AnimationEncoder(format: format, size: size)
        for frame in 0..<4 {
            var bytes = Samples.picture(size.width, size.height).bytes
            for offset in frame * 400..<frame * 400 + 600 { bytes[offset] |= 0xE0 }
            try encoder.append(
                try #require(PixelBuffer(size: size, bytes: bytes)), delay: .milliseconds(100 * (frame + 1)))
        }
        let file = try encoder.finish()
        var animation = StreamingAnimation()
        var ends: [Int] = []
        for offset in file.indices {
            try animation.append(file.span.extracting(offset..<offset + 1))
            if animation.frameCount > ends.count { ends.append(offset + 1) }
        }
        try #require(ends.count == 4)
        return (file, ends)
    }

    private static func frames(_ file: [UInt8], _ options: DecodeOptions = DecodeOptions()) throws -> [PixelBuffer] {
        let image = try AnimatedImage(file, options: options)
        let decoder = AnimationDecoder(image)
        return try (0..<image.frameCount).map { try decoder.frame(at: $0) }
    }

    @Test(arguments: formats)
    func eachAnimationFrameArrivesBeforeTheBytesAfterIt(format: ImageFormat) async throws {
        try await withLoopbackOrigin { origin in
            let (file, ends) = try Self.file(format)
            let gates = ends.map { _ in Gate() }
            var response = Response(body: file)
            for (end, gate) in zip(ends, gates) { response = response.held(at: .body(end), until: gate) }
            origin.route("/image", response)
            let loader = ImageLoader(configuration: .patient)
            let request = ImageRequest(origin.url("/image"), maximumSide: 16)
            let expected = try Self.frames(file, request.options)

            var iterator = loader.animationFrames(for: request).makeAsyncIterator()
            for (index, gate) in gates.enumerated() {
                let frame = try #require(try await iterator.next())
                #expect((frame.index, frame.repetition, frame.isPartial) == (index, 0, false))
                #expect(frame.delay == .milliseconds(100 * (index + 1)))
                #expect(frame.pixels == expected[index])
                gate.open()
            }
            #expect(try await iterator.next() == nil)
            #expect(try await iterator.next() == nil)
            await loader.coordinator.becomesIdle()
            #expect(await loader.decoder.memoryInUse == 0)
        }
    }

    @Test(arguments: formats, [1, 7, 100])
    func animationFramesDoNotDependOnPieceSizes(format: ImageFormat, piece: Int) async throws {
        try await withLoopbackOrigin { origin in
            let (file, _) = try Self.file(format)
            origin.route("/image", Response(body: file).paced(bytesPerSecond: 1 << 30, chunk: piece))
            var frames: [PixelBuffer] = []
            let loader = ImageLoader(configuration: .patient)
            for try await frame in loader.animationFrames(for: ImageRequest(origin.url("/image"))) {
                frames.append(frame.pixels)
            }
            #expect(try frames == Self.frames(file))
        }
    }

    @Test(arguments: formats)
    func lateCallerStartsAtFirstFrame(format: ImageFormat) async throws {
        try await withLoopbackOrigin { origin in
            let (file, ends) = try Self.file(format)
            let gate = Gate()
            origin.route("/image", Response(body: file).held(at: .body(ends[2]), until: gate))
            let loader = ImageLoader(configuration: .patient)
            let request = ImageRequest(origin.url("/image"))
            let expected = try Self.frames(file)

            var first = loader.animationFrames(for: request).makeAsyncIterator()
            for index in 0..<3 { #expect(try await first.next()?.pixels == expected[index]) }
            var second = loader.animationFrames(for: request).makeAsyncIterator()
            for index in 0..<3 { #expect(try await second.next()?.pixels == expected[index]) }
            async let whole = loader.animation(for: request)
            await loader.coordinator.callers(reach: 3)
            gate.open()

            #expect(try await second.next()?.pixels == expected[3])
            #expect(try await second.next() == nil)
            let response = try await whole
            #expect((response.animation.frameCount, response.animation.isPartial) == (4, false))
            #expect(try AnimationDecoder(response.animation).frame(at: 3) == expected[3])
            // The first caller has not read in the meantime, but has missed nothing.
            #expect(try await first.next()?.pixels == expected[3])
            #expect(try await first.next() == nil)
            #expect(origin.counts.requests["/image"] == 1)
        }
    }

    /// The caller that collects the animation has read the received data and waits for more.
    @Test(arguments: formats)
    func callerJoiningPausedAnimationGetsCompleteFrames(format: ImageFormat) async throws {
        try await withLoopbackOrigin { origin in
            let (file, ends) = try Self.file(format)
            let gate = Gate()
            origin.route("/image", Response(body: file).held(at: .body(ends[1]), until: gate))
            let loader = ImageLoader(configuration: .patient)
            let request = ImageRequest(origin.url("/image"))
            async let whole = loader.animation(for: request)
            await loader.coordinator.callers(reach: 1)
            await origin.bodyBytesSent(to: "/image", reach: ends[1])
            for _ in 0..<20 { _ = await loader.decoder.memoryInUse }

            var iterator = loader.animationFrames(for: request).makeAsyncIterator()
            for index in 0..<2 { #expect(try await iterator.next()?.index == index) }
            gate.open()
            #expect(try await iterator.next()?.index == 2)
            #expect(try await whole.animation.frameCount == 4)
            #expect(origin.counts.requests["/image"] == 1)
        }
    }

    /// The second attempt receives a file of another size, of which at first fewer frames are available than of the
    /// first file.
    @Test(arguments: formats)
    func framesOfAChangedFileFollowAfterARetry(format: ImageFormat) async throws {
        try await withLoopbackOrigin { origin in
            let (file, ends) = try Self.file(format)
            let (other, _) = try Self.file(format, PixelSize(width: 40, height: 20))
            origin.route(
                "/image",
                [
                    Response(body: file).cut(at: .body(ends[2])),
                    Response(body: other).paced(bytesPerSecond: 1 << 30, chunk: 7),
                ])
            var configuration = ImageLoader.Configuration.patient
            configuration.downloads.retry = ExponentialBackoff()
            let clock = ManualClock()
            let loader = ImageLoader(configuration: configuration, clock: clock)
            var iterator = loader.animationFrames(for: ImageRequest(origin.url("/image"))).makeAsyncIterator()
            let expected = try Self.frames(file)
            for index in 0..<3 { #expect(try await iterator.next()?.pixels == expected[index]) }
            _ = await clock.nextSleep()
            clock.advance(by: .seconds(100))
            #expect(try await iterator.next()?.pixels == Self.frames(other)[3])
            #expect(try await iterator.next() == nil)
        }
    }

    @Test(arguments: formats)
    func endingAnAnimationFrameLoopLeavesTheDownload(format: ImageFormat) async throws {
        try await withLoopbackOrigin { origin in
            let (file, ends) = try Self.file(format)
            origin.route("/image", Response(body: file).stalled(at: .body(ends[1])))
            let loader = ImageLoader(configuration: .patient)
            for try await frame in loader.animationFrames(for: ImageRequest(origin.url("/image"))) {
                if frame.index == 1 { break }
            }
            await origin.openConnections(become: 0)
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func cancelingEndsTheWaitForAnAnimationFrame() async throws {
        try await withLoopbackOrigin { origin in
            let (file, ends) = try Self.file(.gif)
            origin.route("/image", Response(body: file).stalled(at: .body(ends[0])))
            let loader = ImageLoader(configuration: .patient)
            let stream = loader.animationFrames(for: ImageRequest(origin.url("/image")))
            let task = Task {
                for try await _ in stream {}
                try Task.checkCancellation()
            }
            await origin.bodyBytesSent(to: "/image", reach: ends[0])
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await origin.openConnections(become: 0)
        }
    }

    @Test(arguments: formats)
    func animationErrorComesAfterTheCompleteFrames(format: ImageFormat) async throws {
        try await withLoopbackOrigin { origin in
            let (file, ends) = try Self.file(format)
            origin.route("/cut", Response(body: file).cut(at: .body(ends[1] + 5)))
            origin.route("/short", Response(body: Array(file.prefix(ends[1] + 5))))
            let expected = try Self.frames(file).prefix(2)
            let loader = ImageLoader(configuration: .patient)
            for path in ["/cut", "/short"] {
                var frames: [PixelBuffer] = []
                let error = await #expect(throws: ImageError.self) {
                    for try await frame in loader.animationFrames(for: ImageRequest(origin.url(path))) {
                        frames.append(frame.pixels)
                    }
                }
                #expect(frames == Array(expected))
                switch error {
                case .transport: #expect(path == "/cut")
                case .codec(.truncated(format), _, _): #expect(path == "/short")
                default: Issue.record("\(String(describing: error))")
                }

                let options = DecodeOptions(allowsPartial: true)
                let request = ImageRequest(origin.url(path), options: options)
                var partial: [PixelBuffer] = []
                for try await frame in loader.animationFrames(for: request) { partial.append(frame.pixels) }
                #expect(partial == Array(expected))
                let whole = try await loader.animation(for: request).animation
                #expect((whole.frameCount, whole.isPartial) == (2, true))
            }
        }
    }

    @Test func undecodableFrameEndsTheFrameStream() async throws {
        try await withLoopbackOrigin { origin in
            var (file, ends) = try Self.file(.png)
            file[ends[2] - 16] ^= 1
            origin.route("/image", Response(body: file))
            let loader = ImageLoader(configuration: .patient)
            var iterator = loader.animationFrames(for: ImageRequest(origin.url("/image"))).makeAsyncIterator()
            for index in 0..<2 { #expect(try await iterator.next()?.index == index) }
            await #expect(throws: ImageError.self) { try await iterator.next() }

            let options = DecodeOptions(allowsPartial: true)
            var isPartial: [Bool] = []
            for try await frame in loader.animationFrames(for: ImageRequest(origin.url("/image"), options: options)) {
                isPartial.append(frame.isPartial)
            }
            #expect(isPartial.count == 4)
            #expect(isPartial.prefix(3) == [false, false, true])
        }
    }

    @Test(arguments: EncodeOptions.formats)
    func stillImageIsOneAnimationFrame(format: ImageFormat) async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(format)
            origin.route("/image", Response(body: file))
            origin.route("/cut", Response(body: Array(file.dropLast(file.count / 4))))
            let loader = ImageLoader(configuration: .patient)
            var frames: [AnimationFrame] = []
            for try await frame in loader.animationFrames(for: ImageRequest(origin.url("/image"))) {
                frames.append(frame)
            }
            #expect(frames.map(\.pixels) == [try StreamingDecoder.decode(file.span).pixels])
            #expect(frames.first.map { ($0.index, $0.isPartial) } ?? (1, true) == (0, false))

            let options = DecodeOptions(allowsPartial: true)
            var partial: [Bool] = []
            for try await frame in loader.animationFrames(for: ImageRequest(origin.url("/cut"), options: options)) {
                partial.append(frame.isPartial)
            }
            #expect(partial == [true])
        }
    }

    @Test func animationFramesAboveTheMemoryBudgetAreRejected() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/image", Response(body: try Self.file(.gif).bytes))
            var configuration = ImageLoader.Configuration.patient
            configuration.decoding.memoryBudget = 1_000
            let loader = ImageLoader(configuration: configuration)
            await #expect {
                for try await _ in loader.animationFrames(for: ImageRequest(origin.url("/image"))) {}
            } throws: { error in
                if case ImageError.codec(.overLimit(.memory, _, _), _, _) = error { true } else { false }
            }
        }
    }

    @Test func invalidURLIsAnErrorOfAnimationFrames() async throws {
        let loader = ImageLoader(configuration: .patient)
        await #expect(throws: ImageError.self) {
            for try await _ in loader.animationFrames(for: ImageRequest("nonsense")) {}
        }
    }
}
