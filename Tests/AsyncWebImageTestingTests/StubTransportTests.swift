import AsyncWebImage
import AsyncWebImageTesting
import ImageCodecs
import Testing

/// Code that loads images is tested without a network.
@Suite(.timeLimit(.minutes(1)))
struct StubTransportTests {
    private let pixels = PixelBuffer(
        size: PixelSize(width: 4, height: 3), bytes: [UInt8](repeating: 255, count: 4 * 3 * 4))
    private let clock = ManualClock()
    private let url = "https://example.com/a"

    private func loader(_ transport: StubTransport) -> ImageLoader { ImageLoader(transport: transport, clock: clock) }

    @Test func imageIsLoadedWithoutANetwork() async throws {
        let pixels = try #require(pixels)
        let transport = StubTransport([url: try .image(pixels)])
        let image = try await loader(transport).image(for: ImageRequest(url))
        #expect(image.pixels == pixels && image.source == .network)
        #expect(image.head.response.headerFields[.contentType] == "image/png")
        #expect(transport.requests.map(\.url.string) == [url])
    }

    @Test func responsesFollowEachOtherAndTheLastIsRepeated() async throws {
        let transport = StubTransport()
        transport.respond(
            to: url, with: [.init(status: .serviceUnavailable), .failure(.connectionLost), .init(body: [1, 2])])
        var configuration = ImageLoader.Configuration()
        configuration.downloads.retry = ExponentialBackoff(base: .zero)
        let loader = ImageLoader(configuration: configuration, transport: transport)
        #expect(try await loader.data(for: ImageRequest(url)).bytes == [1, 2])
        #expect(try await loader.data(for: ImageRequest(url)).bytes == [1, 2])
        #expect(transport.requests.count == 4)
    }

    @Test func bodyArrivesInPiecesAndCanEndEarly() async throws {
        let transport = StubTransport(
            [url: .init(pieces: [[1], [], [2, 3]], failure: .connectionLost, delay: .seconds(1))], clock: clock)
        var configuration = ImageLoader.Configuration()
        configuration.downloads.retry = nil
        let loader = ImageLoader(configuration: configuration, transport: transport)
        let task = Task { [url] in
            var received: [UInt8] = []
            do {
                for try await piece in try await loader.bytes(for: ImageRequest(url)) { received += piece }
            } catch ImageError.transport(let error) {
                #expect(error.reason == .connectionLost)
            }
            return received
        }
        await clock.sleeps(until: .seconds(1))
        clock.advance(by: .seconds(1))
        await clock.sleeps(until: .seconds(2))
        clock.advance(by: .seconds(1))
        #expect(try await task.value == [1, 2, 3])
    }

    @Test func canceledLoadEndsItsTransfer() async throws {
        let transport = StubTransport([url: .init(body: [1], delay: .seconds(1))], clock: clock)
        let loader = loader(transport)
        let task = loader.dataTask(for: ImageRequest(url))
        await clock.sleeps(until: .seconds(1))
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        await loader.shutdown(gracePeriod: .zero)
    }

    @Test func largeBodyWaitsForItsReader() async throws {
        let body = [UInt8](repeating: 7, count: 300_000)
        let transport = StubTransport([url: .init(pieces: [[UInt8]](repeating: body, count: 20))])
        var count = 0
        for try await piece in try await loader(transport).bytes(for: ImageRequest(url)) { count += piece.count }
        #expect(count == 20 * body.count)
    }

    @Test func limitsOfTheRequestApply() async throws {
        var configuration = ImageLoader.Configuration()
        configuration.downloads.maximumBodyBytes = 1
        let loader = ImageLoader(
            configuration: configuration, transport: StubTransport([url: .init(body: [1, 2])]))
        do {
            _ = try await loader.data(for: ImageRequest(url))
            Issue.record("the body is too long")
        } catch ImageError.transport(let error) {
            #expect(error.reason == .bodyTooLarge(limit: 1))
        }
        do {
            _ = try await loader.data(for: ImageRequest("https://example.com/other"))
            Issue.record("there is no response")
        } catch ImageError.transport(let error) {
            #expect(error.reason == .hostNotFound)
        }
    }
}
