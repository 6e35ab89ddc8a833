import HTTPTransport
import TestSupport
import Testing

@testable import AsyncWebImage
import ResponseCache

/// Images of an application's own schemes.
@Suite(.timeLimit(.minutes(1)))
struct OwnSchemeTests {
    /// Never ends.
    private struct Endless: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let piece: [UInt8]

        func makeAsyncIterator() -> Endless { self }

        mutating func next() async throws -> [UInt8]? { piece }
    }

    private struct OwnFailure: Error {}

    private func loader(
        _ sources: URLSource..., change: (inout ImageLoader.Configuration) -> Void = { _ in },
        transport: (any Transport)? = nil, clock: any Clock<Duration> = ContinuousClock()
    ) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.sources = sources
        change(&configuration)
        return ImageLoader(configuration: configuration, transport: transport, clock: clock)
    }

    private func reason(_ loader: ImageLoader, _ url: String = "asset:a") async throws -> TransportError? {
        do {
            _ = try await loader.data(for: ImageRequest(url))
            return nil
        } catch ImageError.transport(let error) {
            return error
        }
    }

    @Test func theSourceSeesTheURLOfTheRequest() async throws {
        let seen = Awaited<[String]>([])
        let loader = loader(
            .scheme("Asset") { url in
                let parts = [url.host, String(url.path), url.query.map(String.init), url.user, url.password]
                seen.update { $0 = parts.map { $0 ?? "" } }
                return try Samples.file(.png)
            })
        let image = try await loader.image(for: ImageRequest("ASSET://me:pw@Icons/home@2x.png?v=1#x"))
        #expect(image.pixels == Samples.picture(64, 48) && image.scale == 2)
        #expect(image.head.url.string == "asset://Icons/home@2x.png?v=1")
        #expect(seen.value == ["Icons", "/home@2x.png", "v=1", "me", "pw"])
    }

    @Test func concurrentCallersShareALoad() async throws {
        let seen = Awaited<[String]>([])
        let gate = Awaited(false)
        let loader = loader(
            .scheme("asset") { url in
                seen.update { $0.append(url.string) }
                await gate.wait { $0 }
                return try Samples.file(.png)
            })
        let tasks = (0..<20).map { loader.imageTask(for: ImageRequest("asset:a", maximumSide: 10 + $0 % 2)) }
        gate.update { $0 = true }
        for task in tasks { _ = try await task.value }
        #expect(seen.value.count == 1)
    }

    @Test func sourceThatNeverEndsMeetsTheLimitOfABody() async throws {
        let loader = loader(.scheme("asset") { _ in Endless(piece: [UInt8](repeating: 1, count: 10_000)) }) {
            $0.downloads.maximumBodyBytes = 100_000
        }
        #expect(try await reason(loader)?.reason == .bodyTooLarge(limit: 100_000))
    }

    @Test(arguments: [false, true]) func sourceThatDeliversNothingMeetsTheDeadline(hasEmptyPieces: Bool) async throws {
        let clock = ManualClock()
        let loader = loader(
            .scheme("asset") { _ in
                if !hasEmptyPieces { try await Task.sleep(for: .seconds(1_000_000)) }
                return Endless(piece: [])
            },
            change: { $0.downloads.deadlines.total = .seconds(30) }, clock: clock)
        let task = loader.dataTask(for: ImageRequest("asset:a"))
        await clock.sleeps(until: .seconds(30))
        clock.advance(by: .seconds(30))
        do {
            _ = try await task.value
        } catch ImageError.transport(let error) {
            #expect(error.reason == .timedOut(.total))
        }
    }

    @Test func cancellationReachesTheSource() async throws {
        let (started, ended) = (Awaited(false), Awaited(false))
        let loader = loader(
            .scheme("asset") { _ -> [UInt8] in
                started.update { $0 = true }
                defer { ended.update { $0 = true } }
                try await Task.sleep(for: .seconds(1_000_000))
                return []
            })
        let task = loader.dataTask(for: ImageRequest("asset:a"))
        await started.wait { $0 }
        task.cancel()
        await ended.wait { $0 }
        await #expect(throws: CancellationError.self) { _ = try await task.value }
    }

    @Test func errorsOfASourceAreReported() async throws {
        let missing = loader(
            .scheme("asset") { url -> [UInt8] in throw TransportError(url: url.string, reason: .sourceNotFound) })
        #expect(try await reason(missing)?.reason == .sourceNotFound)
        let failing = loader(.scheme("asset") { _ -> [UInt8] in throw OwnFailure() })
        let failure = TransportError(url: "asset:a", reason: .sourceFailed, detail: "OwnFailure()")
        #expect(try await reason(failing) == failure)
        #expect(try await reason(failing, "asset:a\nb") == TransportError(url: "asset:…", reason: .invalidURL))
        await #expect(throws: ImageError.self) { _ = try await reason(failing, "other:a") }
    }

    @Test func transportIsAskedOnlyForItsSchemes() async throws {
        let (own, network) = (InstantTransport(body: [1]), InstantTransport(body: [2]))
        let loader = loader(.transport(own, schemes: ["s3", "https"]), transport: network)
        let data = try await loader.data(for: ImageRequest("s3://bucket/key"))
        #expect(data.bytes == [1] && data.source == .source)
        #expect(try await loader.data(for: ImageRequest("https://example.com/")).bytes == [2])
    }

    @Test(arguments: [false, true]) func responsesAreStoredOnlyIfTheSourceSaysSo(stores: Bool) async throws {
        let (own, cache) = (InstantTransport(body: [1]), try ResponseCache(.init()))
        let loader = loader(.transport(own, schemes: ["s3"], storesResponses: stores)) {
            $0.responseCache = cache
        }
        _ = try await loader.data(for: ImageRequest("s3:a"))
        let again = try await loader.data(for: ImageRequest("s3:a", cachePolicy: .cacheElseLoad))
        #expect(again.source == (stores ? .responseCacheMemory : .source))
        if !stores {
            await #expect(throws: ImageError.self) {
                _ = try await loader.data(for: ImageRequest("s3:a", cachePolicy: .cacheOnly))
            }
        }
    }

    @Test func redirectsNeverLeadToASource() async throws {
        let transport = ScriptedTransport()
        let loader = loader(.scheme("asset") { _ in [1] }, transport: transport)
        let task = loader.dataTask(for: ImageRequest("http://a.example/a"))
        var exchanges = transport.exchanges.makeAsyncIterator()
        let exchange = try #require(await exchanges.next())
        exchange.answer(.found, [.location: "asset:a"])
        exchange.finish()
        await #expect(throws: ImageError.self) { _ = try await task.value }
        #expect(throws: TransportError.self) {
            try RedirectRule.next(
                after: HTTPResponse(status: .found, headerFields: [.location: "asset:a"]), of: exchange.request,
                redirectCount: 0)
        }
    }

    @Test func aRequestModifierCannotReplaceTheKindOfAURL() async throws {
        struct Modifier: RequestModifier {
            let url: HTTPURL

            func modify(_ request: TransportRequest) async throws -> TransportRequest {
                var request = request
                request.url = url
                return request
            }
        }
        let url = try HTTPURL("https://example.com/")
        let loader = loader(
            .scheme("asset") { _ in [1] }, change: { $0.downloads.requestModifier = Modifier(url: url) })
        #expect(try await reason(loader)?.reason == .sourceRefused)
    }

    @Test func noNetworkTransportAcceptsTheURLOfASource() async throws {
        let url = HTTPURL(ofSource: "asset://localhost/a", scheme: "asset")
        let log = BodyLog(maximumReplayBytes: 0)
        let ended = OneShot<Void>()
        let receiver = DownloadReceiver(url: url, log: log, rules: ResponseRules(DownloadConfiguration())) {
            ended.resolve(.success(()))
        }
        _ = CurlTransport().start(TransportRequest(url: url), receiver: receiver)
        try await ended.value
        guard case .failed(.transport(let error)) = receiver.failure else {
            Issue.record("not refused")
            return
        }
        #expect(error.reason == .invalidURL)
    }
}
