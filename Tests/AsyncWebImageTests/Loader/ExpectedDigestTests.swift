import Hashing
import HTTPTransport
import LoopbackOrigin
import TestSupport
import Testing

@testable import AsyncWebImage

/// Requests with an expected digest of the body, end to end.
@Suite(.timeLimit(.minutes(1)))
struct ExpectedDigestTests {
    private let wrong = BodyDigest(.sha256, bytes: [UInt8](repeating: 7, count: 32))

    private func request(_ url: String, _ digest: BodyDigest?) -> ImageRequest {
        ImageRequest(url, expectedDigest: digest)
    }

    /// Returns the digests of the error of a load.
    private func mismatch(_ load: () async throws -> Void) async throws -> (expected: BodyDigest, actual: BodyDigest) {
        let error = await #expect(throws: ImageError.self) { try await load() }
        #expect(error?.code.rawValue == "hash_mismatch")
        guard case .digestMismatch(_, let expected, let actual, _)? = error else { throw try #require(error) }
        return (expected, actual)
    }

    @Test(arguments: BodyDigest.Algorithm.allCases)
    func bodyWithExpectedDigestIsDelivered(algorithm: BodyDigest.Algorithm) async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png)
            origin.route("/a.png", .init(body: file))
            let loader = ImageLoader(configuration: .patient)
            let request = request(origin.url("/a.png"), try .of(file, algorithm))
            #expect(try await loader.data(for: request).bytes == file)
            #expect(try await loader.image(for: request).pixels == Samples.picture(64, 48))
            #expect(try await loader.info(for: request).header.size.width == 64)
            #expect(try await loader.animation(for: request).animation.frameCount == 1)
            var bytes: [UInt8] = []
            for try await piece in try await loader.bytes(for: request) { bytes += piece }
            #expect(bytes == file)
            var frame: ImagePreview?
            var uncached = request
            uncached.cachePolicy = .reload
            for try await next in loader.previews(for: uncached) { frame = next }
            #expect(frame?.isFinal == true)
            await loader.coordinator.becomesIdle()
            #expect(await loader.decoder.memoryInUse == 0)
        }
    }

    @Test func everyKindOfLoadFailsIfTheDigestDiffers() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.gif)
            origin.route("/a", .init(body: file))
            let loader = ImageLoader(configuration: .patient)
            let request = request(origin.url("/a"), wrong)
            let loads: [@Sendable () async throws -> Void] = [
                { _ = try await loader.image(for: request) }, { _ = try await loader.data(for: request) },
                { _ = try await loader.info(for: request) },
                { _ = try await loader.info(for: request, readsAnimation: true) },
                { _ = try await loader.animation(for: request) },
                { for try await _ in try await loader.bytes(for: request) {} },
                { for try await _ in loader.previews(for: request) {} },
                { for try await _ in loader.animationFrames(for: request) {} },
                { _ = try await loader.imageTask(for: request).value },
                { _ = try await loader.dataTask(for: request).value },
            ]
            for load in loads {
                let mismatch = try await mismatch(load)
                #expect(try mismatch.expected == wrong && mismatch.actual == .of(file, .sha256))
            }
            await loader.coordinator.becomesIdle()
            #expect(loader.imageCache.count == 0)
        }
    }

    @Test func nonImageWithOtherDigestIsADigestMismatch() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: Array("<!doctype html>".utf8)))
            let loader = ImageLoader(configuration: .patient)
            let request = request(origin.url("/a"), wrong)
            _ = try await mismatch { _ = try await loader.image(for: request) }
        }
    }

    @Test func nonImageWithExpectedDigestIsACodecError() async throws {
        try await withLoopbackOrigin { origin in
            let body = Array("<!doctype html>".utf8)
            origin.route("/a", .init(body: body))
            let loader = ImageLoader(configuration: .patient)
            let request = request(origin.url("/a"), try .of(body, .sha512))
            let error = await #expect(throws: ImageError.self) { try await loader.image(for: request) }
            #expect(error?.code == .notAnImage)
        }
    }

    /// A decoder does not need the bytes behind the image.
    @Test func digestIncludesBytesAfterTheImage() async throws {
        try await withLoopbackOrigin { origin in
            let image = try Samples.file(.png)
            let file = image + [UInt8](repeating: 1, count: 100_000)
            origin.route("/a", .init(body: file))
            var configuration = ImageLoader.Configuration.patient
            configuration.downloads.maximumReplayBytes = 0
            let loader = ImageLoader(configuration: configuration)
            let url = origin.url("/a")
            #expect(try await loader.image(for: request(url, try .of(file, .sha256))).byteCount == file.count)
            await loader.coordinator.becomesIdle()
            let prefix = request(url, try .of(image, .sha256))
            _ = try await mismatch { _ = try await loader.image(for: prefix) }
        }
    }

    @Test func callersWithDifferentDigestsShareADownload() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png, 300, 200)
            let gate = Gate()
            origin.route("/a.png", .init(body: file).held(at: .body(200), until: gate))
            let loader = ImageLoader(configuration: .patient)
            let url = origin.url("/a.png")
            let digests: [BodyDigest?] = [nil, try .of(file, .sha256), wrong, try .of(file, .md5)]
            let images = digests.map { loader.imageTask(for: request(url, $0)) }
            let bodies = digests.map { loader.dataTask(for: request(url, $0)) }
            await loader.coordinator.callers(reach: 8)
            #expect(await loader.coordinator.activity.running == 1)
            gate.open()
            for (digest, (image, body)) in zip(digests, zip(images, bodies)) {
                if digest == wrong {
                    _ = try await mismatch { _ = try await image.value }
                    _ = try await mismatch { _ = try await body.value }
                } else {
                    #expect(try await image.value.pixels == Samples.picture(300, 200))
                    #expect(try await body.value.bytes == file)
                }
            }
            #expect(origin.counts.totalRequests == 1)
            await loader.coordinator.becomesIdle()
        }
    }

    /// Pixels in the cache of decoded images are those of a body with the digest of their key.
    @Test func memoryCacheIsNotUsedForAnotherDigest() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png)
            origin.route("/a.png", .init(body: file))
            let loader = ImageLoader(configuration: .patient)
            let url = origin.url("/a.png")
            _ = try await loader.image(for: ImageRequest(url))
            let wrong = request(url, wrong)
            #expect(loader.cachedImage(for: wrong) == nil)
            _ = try await mismatch { _ = try await loader.image(for: wrong) }
            let right = request(url, try .of(file, .sha256))
            #expect(try await loader.image(for: right).source == .network)
            #expect(try await loader.image(for: right).source == .imageCache)
            #expect(loader.cachedImage(for: wrong) == nil)
            #expect(origin.counts.totalRequests == 3)
        }
    }

    @Test func digestOfARestartedBodyStartsOver() async throws {
        let clock = ManualClock()
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png, 300, 200)
            let other = try Samples.file(.jpeg, 300, 200)
            origin.route("/*", [.init(body: other).cut(at: .body(other.count - 10)), .init(body: file)])
            var configuration = ImageLoader.Configuration.patient
            configuration.downloads.retry = ExponentialBackoff(base: .seconds(1))
            let loader = ImageLoader(configuration: configuration, clock: clock)
            let request = request(origin.url("/a"), try .of(file, .sha256))
            let (image, body) = (loader.imageTask(for: request), loader.dataTask(for: request))
            await loader.coordinator.callers(reach: 2)
            _ = await clock.nextSleep()
            clock.advance(by: .seconds(100))
            #expect(try await image.value.pixels == Samples.picture(300, 200))
            #expect(try await body.value.bytes == file)
            #expect(origin.counts.totalRequests == 2)
        }
    }

    @Test func resumedBodyHasTheDigestOfTheWhole() async throws {
        let clock = ManualClock()
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png, 300, 200)
            let range = "bytes 300-\(file.count - 1)/\(file.count)"
            let rest = Array(file[300...])
            origin.route(
                "/a",
                [
                    .init(headerFields: ["ETag": "\"a\""], body: file).cut(at: .body(300)),
                    .init(status: 206, headerFields: ["ETag": "\"a\"", "Content-Range": range], body: rest),
                ])
            var configuration = ImageLoader.Configuration.patient
            configuration.downloads.retry = ExponentialBackoff(base: .seconds(1))
            let loader = ImageLoader(configuration: configuration, clock: clock)
            let image = loader.imageTask(for: request(origin.url("/a"), try .of(file, .sha256)))
            _ = await clock.nextSleep()
            clock.advance(by: .seconds(100))
            #expect(try await image.value.pixels == Samples.picture(300, 200))
            #expect(origin.recordedRequests.last?.headerFields["Range"] == "bytes=300-")
        }
    }

    @Test func interruptedTransferWithDigestGivesNoPartialImage() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png, 300, 200)
            origin.route("/a", .init(body: file).cut(at: .body(file.count / 2)))
            let loader = ImageLoader(configuration: .patient)
            var request = request(origin.url("/a"), try .of(file, .sha256))
            request.options.allowsPartial = true
            let error = await #expect(throws: ImageError.self) { try await loader.image(for: request) }
            #expect(error?.code == .truncated)
        }
    }

    @Test func canceledLoadWithDigestDoesNotAffectOthers() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png, 300, 200)
            let gate = Gate()
            origin.route("/a", .init(body: file).held(at: .body(200), until: gate))
            let loader = ImageLoader(configuration: .patient)
            let request = request(origin.url("/a"), try .of(file, .sha256))
            let bodies = (0..<4).map { _ in loader.dataTask(for: request) }
            await loader.coordinator.callers(reach: 4)
            for body in bodies.dropFirst() { body.cancel() }
            for body in bodies.dropFirst() {
                await #expect(throws: CancellationError.self) { try await body.value }
            }
            gate.open()
            #expect(try await bodies[0].value.bytes == file)
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func cancelingTheOnlyLoadWithDigestStopsTheTransfer() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [UInt8](repeating: 1, count: 1_000)).stalled(at: .body(200)))
            let loader = ImageLoader(configuration: .patient)
            let body = loader.dataTask(for: request(origin.url("/a"), wrong))
            await origin.bodyBytesSent(to: "/a", reach: 200)
            body.cancel()
            await origin.openConnections(become: 0)
            await loader.coordinator.becomesIdle()
        }
    }
}

extension BodyDigest {
    /// The digest of bytes.
    static func of(_ bytes: [UInt8], _ algorithm: Algorithm) throws -> BodyDigest {
        var digest = try MessageDigest(algorithm.implementation)
        digest.update(bytes)
        return try #require(BodyDigest(algorithm, bytes: try digest.finish()))
    }
}
