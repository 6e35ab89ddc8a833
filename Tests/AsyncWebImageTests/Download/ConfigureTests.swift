import HTTPTransport
import Testing
import Threading

@testable import AsyncWebImage

/// Every property of a configuration takes effect when it is changed while the loader runs.
@Suite(.timeLimit(.minutes(1)))
struct ConfigureTests {
    private let transport = ScriptedTransport()
    private let clock = ManualClock()
    private let url = "http://example.com/a"

    private func loader(_ change: (inout DownloadConfiguration) -> Void = { _ in }) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        change(&configuration.downloads)
        return ImageLoader(configuration: configuration, transport: transport, clock: clock)
    }

    private func start(_ names: String..., with loader: ImageLoader) -> [LoadTask<ResponseBody>] {
        names.map { loader.dataTask(for: ImageRequest("http://example.com/\($0)")) }
    }

    /// The request that a loader sends once it has been configured.
    private func request(after change: @Sendable (inout DownloadConfiguration) -> Void) async throws -> TransportRequest
    {
        let loader = loader()
        await loader.coordinator.configure(change)
        let task = loader.dataTask(for: ImageRequest(url))
        defer { task.cancel() }
        var exchanges = transport.exchanges.makeAsyncIterator()
        return try #require(await exchanges.next()).request
    }

    /// Returns the result of a download whose response arrives after the loader has been configured.
    private func result(
        of body: [UInt8], _ status: HTTPResponse.Status = .ok, _ fields: HTTPFields = [:],
        after change: @Sendable (inout DownloadConfiguration) -> Void
    ) async throws -> Result<[UInt8], any Error> {
        let loader = loader()
        await loader.coordinator.configure(change)
        let task = loader.dataTask(for: ImageRequest(url))
        var exchanges = transport.exchanges.makeAsyncIterator()
        let exchange = try #require(await exchanges.next())
        exchange.answer(status, fields, body)
        exchange.finish()
        do { return .success(try await task.value.bytes) } catch { return .failure(error) }
    }

    // MARK: Order and limits

    @Test func maximumConcurrentDownloadsTakesEffectWhileRunning() async {
        let loader = loader { $0.maximumConcurrentDownloads = 1 }
        let tasks = start("a", "b", "c", with: loader)
        await loader.coordinator.callers(reach: 3)
        await loader.coordinator.configure { $0.maximumConcurrentDownloads = 2 }
        #expect(await loader.coordinator.activity.running == 2)
        for task in tasks { task.cancel() }
    }

    @Test func maximumDownloadsPerHostTakesEffectWhileRunning() async {
        let loader = loader { $0.maximumConcurrentDownloadsPerHost = 1 }
        let tasks = start("a", "b", "c", with: loader)
        await loader.coordinator.callers(reach: 3)
        await loader.coordinator.configure { $0.maximumConcurrentDownloadsPerHost = 2 }
        #expect(await loader.coordinator.activity.running == 2)
        for task in tasks { task.cancel() }
    }

    @Test func maximumConnectionsPerHostTakesEffectWhileRunning() async {
        let loader = loader { $0.maximumConnectionsPerHost = 1 }
        let tasks = start("a", "b", "c", with: loader)
        await loader.coordinator.callers(reach: 3)
        await loader.coordinator.configure { $0.maximumConnectionsPerHost = 2 }
        #expect(await loader.coordinator.activity.running == 2)
        for task in tasks { task.cancel() }
    }

    @Test func rateLimitPerHostTakesEffectWhileRunning() async {
        let loader = loader()
        await loader.coordinator.configure { $0.rateLimitPerHost = RateLimit(requestsPerSecond: 1) }
        let tasks = start("a", "b", with: loader)
        await loader.coordinator.callers(reach: 2)
        #expect(await loader.coordinator.activity.running == 1)
        await loader.coordinator.configure { $0.rateLimitPerHost = nil }
        #expect(await loader.coordinator.activity.running == 2)
        for task in tasks { task.cancel() }
    }

    @Test func executionOrderTakesEffectWhileRunning() async throws {
        let loader = loader { $0.maximumConcurrentDownloads = 1 }
        let tasks = start("a", "b", "c", with: loader)
        await loader.coordinator.callers(reach: 3)
        await loader.coordinator.configure { $0.executionOrder = .lifo }
        var exchanges = transport.exchanges.makeAsyncIterator()
        try #require(await exchanges.next()).fail(.invalidResponse)
        #expect(try #require(await exchanges.next()).request.url.string == "http://example.com/c")
        for task in tasks { task.cancel() }
    }

    @Test func maximumBytesInFlightTakesEffectWhileRunning() async throws {
        let loader = loader()
        let held = start("a", with: loader)
        var exchanges = transport.exchanges.makeAsyncIterator()
        let exchange = try #require(await exchanges.next())
        exchange.answer(.ok, [:], [UInt8](repeating: 1, count: 5_000))
        await loader.coordinator.configure { $0.maximumBytesInFlight = 1_000 }
        let waiting = start("b", with: loader)
        await loader.coordinator.callers(reach: 2)
        #expect(await loader.coordinator.activity.waiting == 1)
        await loader.coordinator.configure { $0.maximumBytesInFlight = 10_000 }
        #expect(await loader.coordinator.activity.waiting == 0)
        for task in held + waiting { task.cancel() }
    }

    // MARK: Requests

    @Test func headerFieldsTakeEffectWhileRunning() async throws {
        let request = try await request { $0.headerFields[.acceptLanguage] = "en" }
        #expect(request.headerFields[.acceptLanguage] == "en")
    }

    @Test func deadlinesTakeEffectWhileRunning() async throws {
        let request = try await request { $0.deadlines = Deadlines(connect: .seconds(1), total: .seconds(7)) }
        #expect(request.deadlines.connect == .seconds(1) && request.deadlines.total == .seconds(7))
    }

    @Test func redirectLimitTakesEffectWhileRunning() async throws {
        let request = try await request {
            $0.maximumRedirects = 3
            $0.redirectPolicy.crossOriginHeaderFields = [.acceptLanguage]
        }
        #expect(request.maximumRedirects == 3 && request.redirectPolicy.crossOriginHeaderFields == [.acceptLanguage])
    }

    /// The queue applies it to hosts that are known to need connections; the transport to those that turn out to.
    @Test func limitOfConnectionsTakesEffectWhileRunning() async throws {
        #expect(try await request { $0.maximumConnectionsPerHost = 3 }.maximumConnectionsPerHost == 3)
        #expect(try await request { $0.maximumConnectionsPerHost = 0 }.maximumConnectionsPerHost == 1)
    }

    @Test func requestModifierTakesEffectWhileRunning() async throws {
        struct Modifier: RequestModifier {
            func modify(_ request: TransportRequest) async throws -> TransportRequest {
                var request = request
                request.headerFields[.userAgent] = "modified"
                return request
            }
        }
        #expect(try await request { $0.requestModifier = Modifier() }.headerFields[.userAgent] == "modified")
    }

    // MARK: Responses

    @Test func maximumBodyBytesTakesEffectWhileRunning() async throws {
        #expect(try await request { $0.maximumBodyBytes = 99 }.maximumBodyBytes == 99)
    }

    @Test func acceptedStatusesTakeEffectWhileRunning() async throws {
        let result = try await result(of: [1], .notFound) { $0.acceptedStatuses = 200...404 }
        #expect(try result.get() == [1])
    }

    @Test func acceptedContentTypesTakeEffectWhileRunning() async throws {
        let result = try await result(of: [1], .ok, [.contentType: "text/html"]) {
            $0.acceptedContentTypes = ["image/*"]
        }
        #expect(throws: ImageError.self) { try result.get() }
    }

    @Test func responseValidatorTakesEffectWhileRunning() async throws {
        struct Refusing: ResponseValidator {
            func validate(_ head: ResponseHead, to request: TransportRequest) async throws { throw CancellationError() }
        }
        let result = try await result(of: [1]) { $0.responseValidator = Refusing() }
        #expect(throws: ImageError.self) { try result.get() }
    }

    @Test func bodyTransformTakesEffectWhileRunning() async throws {
        struct Doubling: BodyTransform, BodyTransformer {
            func transformer(for head: ResponseHead) async throws -> (any BodyTransformer)? { self }
            mutating func transform(_ bytes: [UInt8]) async throws -> [UInt8] { bytes + bytes }
            mutating func finish() async throws -> [UInt8] { [] }
        }
        let result = try await result(of: [1, 2]) { $0.bodyTransform = Doubling() }
        #expect(try result.get() == [1, 2, 1, 2])
    }

    @Test func maximumReplayBytesTakesEffectWhileRunning() async throws {
        let loader = loader()
        await loader.coordinator.configure { $0.maximumReplayBytes = 10 }
        let image = loader.imageTask(for: ImageRequest(url))
        var exchanges = transport.exchanges.makeAsyncIterator()
        let first = try #require(await exchanges.next())
        first.answer(.ok, [:], Array(try Samples.file(.png).prefix(100)))
        // The beginning is gone: a caller of the bytes gets a download of its own.
        let data = loader.dataTask(for: ImageRequest(url))
        _ = try #require(await exchanges.next())
        image.cancel()
        data.cancel()
    }

    // MARK: Failures

    @Test func retryPolicyTakesEffectWhileRunning() async throws {
        let loader = loader()
        await loader.coordinator.configure { $0.retry = ExponentialBackoff(base: .zero) }
        let task = loader.dataTask(for: ImageRequest(url))
        var exchanges = transport.exchanges.makeAsyncIterator()
        try #require(await exchanges.next()).fail(.connectionLost)
        let again = try #require(await exchanges.next())
        again.answer(.ok, [:], [1])
        again.finish()
        #expect(try await task.value.bytes == [1])
    }

    /// Interrupts a download after half of its body, and returns whether the next one resumes there.
    private func goesOn(_ loader: ImageLoader, limit: Int) async throws -> Bool {
        var exchanges = transport.exchanges.makeAsyncIterator()
        await loader.coordinator.configure { $0.maximumResumableBytes = limit }
        let first = loader.dataTask(for: ImageRequest(url))
        let broken = try #require(await exchanges.next())
        broken.answer(.ok, [.eTag: "\"a\"", .contentLength: "40000"], [UInt8](repeating: 1, count: 20_000))
        broken.fail(.connectionLost)
        _ = try? await first.value
        await loader.coordinator.becomesIdle()
        let second = loader.dataTask(for: ImageRequest(url))
        let range = try #require(await exchanges.next()).request.headerFields[.range]
        second.cancel()
        await loader.coordinator.becomesIdle()
        return range == "bytes=20000-"
    }

    @Test func maximumResumableBytesTakesEffectWhileRunning() async throws {
        let loader = loader { $0.maximumResumableBytes = 0 }
        #expect(try await goesOn(loader, limit: 1 << 20))
        #expect(try await !goesOn(loader, limit: 19_999))
        #expect(try await goesOn(loader, limit: 20_000))
    }

    @Test func loweringResumableLimitDropsKeptBodies() async throws {
        let loader = loader()
        var exchanges = transport.exchanges.makeAsyncIterator()
        let first = loader.dataTask(for: ImageRequest(url))
        let broken = try #require(await exchanges.next())
        broken.answer(.ok, [.eTag: "\"a\""], [UInt8](repeating: 1, count: 20_000))
        first.cancel()
        await loader.coordinator.becomesIdle()
        await loader.coordinator.configure { $0.maximumResumableBytes = 0 }
        await loader.coordinator.configure { $0.maximumResumableBytes = 1 << 20 }
        let second = loader.dataTask(for: ImageRequest(url))
        #expect(try #require(await exchanges.next()).request.headerFields[.range] == nil)
        second.cancel()
    }
}
