import LoopbackOrigin
import TestSupport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// Requests with an expected digest whose body is stored in a response cache.
@Suite(.timeLimit(.minutes(1)))
struct StoredDigestTests {
    private let time = ManualTime()

    /// Runs `body` with an origin whose file has changed since it was stored.
    private func withOutdatedFile(
        onDisk: Bool = false,
        _ body: (LoopbackOrigin, ImageLoader, _ url: String, _ file: [UInt8]) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await withLoopbackOrigin { origin in
                let file = try Samples.file(.png, 300, 200)
                let fields: HeaderFields = ["Cache-Control": "max-age=60"]
                origin.route("/a") { request in
                    .init(headerFields: fields, body: request.ordinal == 1 ? [1, 2, 3] : file)
                }
                var configuration = ImageLoader.Configuration.patient
                let cache = try ResponseCache.test(onDisk ? folder : nil, time)
                configuration.responseCache = cache
                let loader = ImageLoader(configuration: configuration)
                _ = try await loader.data(for: ImageRequest(origin.url("/a")))
                await loader.coordinator.becomesIdle()
                await cache.settles()
                try await body(origin, loader, origin.url("/a"), file)
                await loader.coordinator.becomesIdle()
            }
        }
    }

    @Test(arguments: [true, false]) func storedBodyWithOtherDigestIsReplaced(onDisk: Bool) async throws {
        try await withOutdatedFile(onDisk: onDisk) { origin, loader, url, file in
            let request = ImageRequest(url, expectedDigest: try .of(file, .sha256))
            let image = try await loader.image(for: request)
            #expect(image.source == .network && image.pixels == Samples.picture(300, 200))
            #expect(origin.counts.totalRequests == 2)
            await loader.coordinator.becomesIdle()
            #expect(try await loader.data(for: ImageRequest(url)).bytes == file)
            #expect(origin.counts.totalRequests == 2)
        }
    }

    @Test func storedDigestMismatchCausesOneRequestForAllCallers() async throws {
        try await withOutdatedFile { origin, loader, url, file in
            let request = ImageRequest(url, expectedDigest: try .of(file, .sha256))
            let bodies = await loader.coordinator.inOneTurn { (0..<20).map { _ in loader.dataTask(for: request) } }
            for body in bodies { #expect(try await body.value.bytes == file) }
            #expect(origin.counts.totalRequests == 2)
        }
    }

    @Test func duringAShutdownStoredBodyWithOtherDigestIsReplacedForACallerThatFinishes() async throws {
        try await withOutdatedFile { origin, loader, url, file in
            let held = HeldCache(try #require(await loader.coordinator.environment.responseCache))
            let digest = try BodyDigest.of(file, .sha256)
            let body = loader.dataTask(for: ImageRequest(url, finishesOnShutdown: true, expectedDigest: digest))
            await loader.coordinator.callers(reach: 1)
            async let end: Void = loader.shutdown(gracePeriod: .seconds(60))
            while await loader.coordinator.current({ $0.shutdown == nil }), !Task.isCancelled { await Task.yield() }
            held.release()
            #expect(try await body.value.bytes == file)
            await end
            #expect(origin.counts.totalRequests == 2)
        }
    }

    @Test func storedBodyWithExpectedDigestIsUsed() async throws {
        try await withOutdatedFile { origin, loader, url, _ in
            let data = try await loader.data(for: ImageRequest(url, expectedDigest: try .of([1, 2, 3], .sha256)))
            #expect(data.source == .responseCacheMemory && origin.counts.totalRequests == 1)
        }
    }

    @Test func digestMismatchFromTheOriginIsNotRequestedAgain() async throws {
        try await withOutdatedFile { origin, loader, url, _ in
            let request = ImageRequest(url, expectedDigest: try .of([4], .sha256))
            let error = await #expect(throws: ImageError.self) { try await loader.data(for: request) }
            guard case .digestMismatch(_, _, _, from: .network)? = error else { throw try #require(error) }
            #expect(origin.counts.totalRequests == 2)
        }
    }

    @Test func storedBodyWithOtherDigestFailsCacheOnlyRequest() async throws {
        try await withOutdatedFile { origin, loader, url, file in
            let request = ImageRequest(url, cachePolicy: .cacheOnly, expectedDigest: try .of(file, .sha256))
            let error = await #expect(throws: ImageError.self) { try await loader.data(for: request) }
            #expect(error?.code == .hashMismatch)
            #expect(error?.description.contains("reload") == true)
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test func imageBytesOfStoredBodyWithOtherDigestFail() async throws {
        try await withOutdatedFile { origin, loader, url, file in
            let request = ImageRequest(url, expectedDigest: try .of(file, .sha256))
            let error = await #expect(throws: ImageError.self) {
                for try await _ in try await loader.bytes(for: request) {}
            }
            #expect(error?.code == .hashMismatch)
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test func digestMismatchIsNotRequestedAgainForCanceledCallers() async throws {
        try await withOutdatedFile { origin, loader, url, file in
            let request = ImageRequest(url, expectedDigest: try .of(file, .sha256))
            let body = loader.dataTask(for: request)
            body.cancel()
            await #expect(throws: CancellationError.self) { try await body.value }
            await loader.coordinator.becomesIdle()
            #expect(origin.counts.totalRequests == 1)
        }
    }
}
