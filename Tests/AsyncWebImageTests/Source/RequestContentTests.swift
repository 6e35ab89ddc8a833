import ImageCodecs
import TestSupport
import Testing

@testable import AsyncWebImage

/// Requests that contain their image.
@Suite(.timeLimit(.minutes(1)))
struct RequestContentTests {
    private let loader = ImageLoader(configuration: .patient)

    private func stream(_ pieces: [[UInt8]]) -> AsyncStream<[UInt8]> {
        AsyncStream { continuation in
            for piece in pieces { continuation.yield(piece) }
            continuation.finish()
        }
    }

    @Test func bytesAreIdentifiedByTheirDigest() async throws {
        let file = try Samples.file(.png)
        let request = ImageRequest(bytes: file)
        let image = try await loader.image(for: request)
        #expect(image.pixels == Samples.picture(64, 48) && image.source == .source)
        #expect(ImageRequest(bytes: file) == request && ImageRequest(bytes: file + [0]) != request)
        #expect(try await loader.image(for: ImageRequest(bytes: file)).source == .imageCache)
        #expect(try await loader.image(for: ImageRequest(bytes: try Samples.file(.jpeg))).source == .source)
        #expect(try await loader.data(for: request).bytes == file)
    }

    @Test func cacheKeyIdentifiesBytes() async throws {
        let request = ImageRequest(bytes: try Samples.file(.png), cacheKey: "photo")
        _ = try await loader.image(for: request)
        #expect(try await loader.image(for: ImageRequest(bytes: [], cacheKey: "photo")).source == .imageCache)
        let other = ImageRequest("https://a.example/", cacheKey: "photo")
        #expect(try await loader.image(for: other).source == .imageCache)
    }

    @Test func cachedImagesDoNotKeepTheBytes() async throws {
        let request = ImageRequest(bytes: try Samples.file(.png))
        #expect(loader.cacheKey(for: request)?.fetch.source == nil)
    }

    @Test func sequenceOfPiecesIsDecodedAsItArrives() async throws {
        let file = try Samples.file(.png, 400, 300)
        let pieces = stride(from: 0, to: file.count, by: 1_000).map { file[$0..<min($0 + 1_000, file.count)] }
        let request = ImageRequest(pieces: stream(pieces.map(Array.init) + [[]]), options: DecodeOptions())
        let (image, data) = try await loader.imageAndData(for: request)
        #expect(image.pixels == Samples.picture(400, 300) && data.bytes == file)
    }

    @Test func sequenceIsReadOnceUnlessItIsRepeatable() async throws {
        struct Repeated: AsyncSequence, Sendable {
            func makeAsyncIterator() -> AsyncStream<[UInt8]>.Iterator {
                AsyncStream<[UInt8]> { continuation in
                    continuation.yield([1, 2])
                    continuation.finish()
                }.makeAsyncIterator()
            }
        }
        let once = ImageRequest(pieces: stream([[1], [2]]))
        #expect(try await loader.data(for: once).bytes == [1, 2])
        await loader.coordinator.becomesIdle()
        let error = await #expect(throws: ImageError.self) { try await loader.data(for: once) }
        #expect(error?.code == .sourceFailed)
        let repeated = ImageRequest(pieces: Repeated(), isRepeatable: true)
        for _ in 0..<2 {
            #expect(try await loader.data(for: repeated).bytes == [1, 2])
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func sequencesWithoutACacheKeyAreNeverMixedUp() async throws {
        let first = ImageRequest(pieces: stream([[1]]))
        let second = ImageRequest(pieces: stream([[2]]))
        #expect(first != second && loader.cacheKey(for: first) == nil)
        #expect(try await loader.data(for: first).bytes == [1])
        #expect(try await loader.data(for: second).bytes == [2])
        #expect(loader.cacheKey(for: ImageRequest(pieces: stream([]), cacheKey: "a")) != nil)
    }

    @Test func contentBelongsToItsURL() async throws {
        var request = ImageRequest(bytes: [1])
        request.url += "0"
        await #expect(throws: ImageError.self) { _ = try await loader.data(for: request) }
    }
}
