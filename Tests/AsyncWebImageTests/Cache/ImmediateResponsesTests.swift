import HTTPTransport
import LoopbackOrigin
import TestSupport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// Stored responses that callers get on their own threads.
@Suite(.timeLimit(.minutes(2)))
struct ImmediateResponsesTests {
    private let time = ManualTime()
    private let body = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 11) }
    private let url = "http://example.com/a"

    private struct NoChange: RequestModifier {
        func modify(_ request: TransportRequest) async throws -> TransportRequest { request }
    }

    /// A loader without a network, and its cache in memory, which contains ``body``.
    private func makeLoader(
        _ fields: HTTPFields = [.cacheControl: "max-age=60"],
        _ change: (inout DownloadConfiguration) -> Void = { _ in }
    ) async throws -> (ImageLoader, ResponseCache) {
        var configuration = ImageLoader.Configuration.patient
        let cache = try ResponseCache.test(nil, time)
        try await cache.store(body, url, fields)
        configuration.responseCache = cache
        configuration.cachePolicy = .cacheOnly
        change(&configuration.downloads)
        return (ImageLoader(configuration: configuration), cache)
    }

    private func immediate(_ loader: ImageLoader, _ request: ImageRequest? = nil) throws -> ResponseBody? {
        loader.coordinator.storedData(for: try loader.fetchKey(request ?? ImageRequest(url)))
    }

    @Test func freshStoredBodyIsReturnedWhileTheCacheIsBusy() async throws {
        let (loader, cache) = try await makeLoader()
        let held = HeldCache(cache)
        defer { held.release() }
        let data = try await loader.data(for: ImageRequest(url))
        #expect(data.bytes == body && data.source == .responseCacheMemory && data.head.status == .ok)
    }

    @Test func callersWithoutAResponseCacheGetNothingImmediately() async throws {
        let loader = ImageLoader(configuration: .patient)
        #expect(loader.coordinator.immediateResponses == nil)
        #expect(try immediate(loader) == nil)
    }

    @Test func observedDownloadsGetNothingImmediately() async throws {
        let (loader, _) = try await makeLoader()
        var events: AsyncStream<DownloadEvent>? = loader.coordinator.events()
        #expect(events != nil)
        #expect(try immediate(loader) == nil)
        events = nil
        #expect(try immediate(loader) != nil)
    }

    @Test func downloadsWithHooksGetNothingImmediately() async throws {
        let (loader, _) = try await makeLoader { $0.requestModifier = NoChange() }
        #expect(try immediate(loader) == nil)
        #expect(try await loader.data(for: ImageRequest(url)).bytes == body)
        await loader.coordinator.configure { $0.requestModifier = nil }
        #expect(try immediate(loader) != nil)
        await loader.coordinator.configure { $0.requestModifier = NoChange() }
        #expect(try immediate(loader) == nil)
    }

    @Test func suspendedDownloadsGetNothingImmediately() async throws {
        let (loader, _) = try await makeLoader()
        await loader.coordinator.suspend()
        #expect(try immediate(loader) == nil)
        await loader.coordinator.resume()
        #expect(try immediate(loader) != nil)
    }

    @Test func callersAfterAShutdownGetNothingImmediately() async throws {
        let (loader, _) = try await makeLoader()
        await loader.shutdown(gracePeriod: .zero)
        #expect(try immediate(loader) == nil)
        await loader.coordinator.resume()
        await loader.coordinator.configure { $0.maximumConcurrentDownloads = 2 }
        #expect(try immediate(loader) == nil)
        await #expect(throws: ImageError.self) { try await loader.data(for: ImageRequest(url)) }
    }

    @Test func storedResponseOfAnotherTypeIsRejected() async throws {
        let (loader, _) = try await makeLoader([.cacheControl: "max-age=60", .contentType: "text/html"]) {
            $0.acceptedContentTypes = ["image/*"]
        }
        #expect(try immediate(loader) == nil)
        await #expect(throws: ImageError.self) { try await loader.data(for: ImageRequest(url)) }
        await loader.coordinator.configure { $0.acceptedContentTypes = nil }
        #expect(try immediate(loader) != nil)
    }

    @Test func storedErrorIsAnErrorForCallers() async throws {
        let (loader, cache) = try await makeLoader()
        let gone = HTTPResponse(status: .gone, headerFields: [.cacheControl: "max-age=60"])
        #expect(await cache.store([1], gone, for: url))
        #expect(try immediate(loader) == nil)
        await #expect(throws: ImageError.self) { try await loader.data(for: ImageRequest(url)) }
    }

    @Test func storedRedirectIsNoResponseToTheRequest() async throws {
        let (loader, cache) = try await makeLoader { $0.acceptedStatuses = 200...399 }
        let moved = HTTPResponse(
            status: .movedPermanently, headerFields: [.cacheControl: "max-age=60", .location: "/b"])
        #expect(await cache.store([1], moved, for: url))
        #expect(try immediate(loader) == nil)
        #expect(cache.statistics.hits == 0)
    }

    @Test func storedResponseWithoutContentIsNotCountedTwice() async throws {
        let (loader, cache) = try await makeLoader()
        let empty = HTTPResponse(status: .noContent, headerFields: [.cacheControl: "max-age=60"])
        #expect(await cache.store([], empty, for: url))
        await #expect(throws: ImageError.self) { try await loader.data(for: ImageRequest(url)) }
        #expect(cache.statistics.hits == 1)
    }

    @Test func requestWithADigestIsNotAnsweredWithAnotherBody() async throws {
        let (loader, _) = try await makeLoader()
        var request = ImageRequest(url)
        request.expectedDigest = BodyDigest(.sha256, bytes: [UInt8](repeating: 7, count: 32))
        await #expect(throws: ImageError.self) { try await loader.data(for: request) }
    }

    @Test func canceledCallerGetsCancellationError() async throws {
        let (loader, _) = try await makeLoader()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await loader.data(for: ImageRequest(url))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func manyCallersOfStoredBodiesGetThemAll() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            for number in 0..<20 { try await cache.store(body + [UInt8(number)], "\(url)/\(number)") }
            var configuration = ImageLoader.Configuration.patient
            (configuration.responseCache, configuration.cachePolicy) = (cache, .cacheOnly)
            let loader = ImageLoader(configuration: configuration)
            try await withThrowingTaskGroup { group in
                for caller in 0..<400 {
                    group.addTask { [body, url] in
                        let data = try await loader.data(for: ImageRequest("\(url)/\(caller % 20)"))
                        return data.bytes.count == body.count + 1 && data.bytes.last == UInt8(caller % 20)
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
            #expect(cache.statistics.hits == 400)
        }
    }
}
