import HTTPTransport
import LoopbackOrigin
import Testing

@testable import AsyncWebImage

/// Bodies whose file is checked before the first byte is delivered.
@Suite(.timeLimit(.minutes(1)))
struct ImageBytesHeaderTests {
    private func bytes(_ body: ImageBytes) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await piece in body { bytes += piece }
        return bytes
    }

    @Test func headerIsKnownBeforeTheFirstPiece() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png)
            // Many pieces end before the header does.
            origin.route("/a", .init(body: file).paced(bytesPerSecond: 1 << 20, chunk: 7))
            let loader = ImageLoader(configuration: .patient)
            let body = try await loader.bytes(for: ImageRequest(origin.url("/a")), readsHeader: true)
            #expect(body.header?.format == .png && body.header?.size.width == 64)
            #expect(try await bytes(body) == file)
            #expect(body.header?.format == .png)
        }
    }

    @Test func unsuitableFilesAreNotDelivered() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/photo", .init(body: try Samples.file(.png)))
            origin.route("/page", .init(body: Array("<html><body>no image</body></html>".utf8)))
            origin.route("/start", .init(body: Array(try Samples.file(.png).prefix(10))))
            let loader = ImageLoader(configuration: .patient)
            func error(_ path: String, _ requirements: ImageRequirements) async -> ImageError? {
                await #expect(throws: ImageError.self) {
                    var request = ImageRequest(origin.url(path))
                    request.requirements = requirements
                    return try await loader.bytes(for: request)
                }
            }
            #expect(await error("/photo", ImageRequirements(minimumSide: 1_000))?.code == .tooSmall)
            #expect(await error("/photo", ImageRequirements(formats: [.jpeg]))?.code == .unwantedFormat)
            #expect(await error("/page", ImageRequirements())?.code == .notAnImage)
            #expect(await error("/start", ImageRequirements())?.code == .truncatedImage)
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func headerOfABodyThatStartsOverIsCheckedAgain() async throws {
        let transport = ScriptedTransport()
        let clock = ManualClock()
        let (taken, take) = AsyncStream.makeStream(of: Void.self)
        let file = try Samples.file(.png)
        func serve() async throws {
            var exchanges = transport.exchanges.makeAsyncIterator()
            let first = try #require(await exchanges.next())
            first.answer(.ok, [:], Array(file.prefix(100)))
            for await _ in taken { break }
            first.fail(.connectionLost)
            _ = await clock.nextSleep()
            clock.advance(by: .seconds(100))
            let second = try #require(await exchanges.next())
            second.answer(.ok, [:], Array("<html>no image</html>".utf8))
            second.finish()
        }
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.retry = ExponentialBackoff(base: .seconds(1))
        let loader = ImageLoader(configuration: configuration, transport: transport, clock: clock)
        async let served: Void = serve()
        let body = try await loader.bytes(for: ImageRequest("http://a.example/a"), readsHeader: true)
        var pieces = body.makeAsyncIterator()
        #expect(try await pieces.next() == Array(file.prefix(100)))
        take.yield()
        do {
            _ = try await pieces.next()
            Issue.record("the body was continued")
        } catch is ImageBytes.StartedOver {}
        do {
            _ = try await pieces.next()
            Issue.record("a page was delivered")
        } catch let error as ImageError {
            #expect(error.code == .notAnImage)
        }
        #expect(try await pieces.next() == nil && body.header == nil)
        try await served
        await loader.coordinator.becomesIdle()
    }
}
