import HTTPTransport
import HTTPTypes
import Hashing
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

// The images that are stored, and the requests for which they are used.
extension StoredImageTests {
    private var fresh: HeaderFields { ["Cache-Control": "max-age=60"] }

    private func imageNames(_ cache: ResponseCache) throws -> [String] {
        try (0..<cache.storage.portionCount).flatMap { portion in
            try cache.storage.keys(inPortion: portion).map(\.name).filter { EntryKind($0) == .image }
        }
    }

    private func request(_ url: String, _ side: Int, _ fields: HTTPFields) -> ImageRequest {
        ImageRequest(url, options: DecodeOptions(target: .maximumSide(side)), headerFields: fields)
    }

    @Test func requestWithOtherOptionsIsDecoded() async throws {
        try await withCache { origin, cache in
            origin.route("/a", .init(headerFields: fresh, body: try Samples.file(.png, 320, 240)))
            let request = ImageRequest(origin.url("/a"), maximumSide: 100)
            try await load(loader(cache), request)
            let changes: [(inout DecodeOptions) -> Void] = [
                { $0.target = .maximumSide(101) }, { $0.target = .fit(PixelSize(width: 100, height: 100)) },
                { $0.target = .fill(PixelSize(width: 100, height: 100)) }, { $0.target = .shorterSide(100) },
                { $0.target = .maximumBytes(40_000) }, { $0.resampling.filter = .box },
                { $0.resampling.usesLinearLight = true }, { $0.allowsUpscaling = true },
                { $0.ignoresOrientation = true }, { $0.stopsWhenComplete = true }, { $0.allowsPartial = true },
                { $0.keepsProfile = true }, { $0.pixelFormat = .bgra8 },
            ]
            var variants: Set<String> = [try #require(request.options.storedVariant)]
            for change in changes {
                var other = request
                change(&other.options)
                #expect(await isDecoded(other, cache))
                #expect(variants.insert(try #require(other.options.storedVariant)).inserted)
            }
            #expect(await !isDecoded(request, cache))
        }
    }

    private func animation() throws -> [UInt8] {
        let encoder = try AnimationEncoder(format: .gif, size: PixelSize(width: 40, height: 30))
        for _ in 0..<2 { try encoder.append(Samples.picture(40, 30), delay: .milliseconds(100)) }
        return try encoder.finish()
    }

    @Test func onlyStillImagesWithATargetSizeAndEightBitsAreStored() async throws {
        try await withCache { origin, cache in
            origin.route("/png", .init(headerFields: fresh, body: try Samples.file(.png, 320, 240)))
            origin.route("/gif", .init(headerFields: fresh, body: try animation()))
            var wide = ImageRequest(origin.url("/png"), maximumSide: 100)
            wide.options.pixelFormat = .rgba16
            try await load(loader(cache), wide)
            try await load(loader(cache), ImageRequest(origin.url("/png")))
            try await load(loader(cache), ImageRequest(origin.url("/gif"), maximumSide: 20))
            #expect(try imageNames(cache).isEmpty)
        }
    }

    @Test func decodedImagesAreStoredOnlyIfConfigured() async throws {
        try await withCache { origin, cache in
            origin.route("/a", .init(headerFields: fresh, body: try Samples.file(.png, 320, 240)))
            let request = ImageRequest(origin.url("/a"), maximumSide: 100)
            #expect(!ImageLoader.Configuration().storesDecodedImages)
            try await load(loader(cache) { $0.storesDecodedImages = false }, request)
            try await load(loader(cache) { $0.downloads.bodyTransform = Unchanged() }, request)
            try await load(loader(cache, policy: .noStore), request)
            var checked = request
            checked.expectedDigest = BodyDigest(.sha256, bytes: SHA256.hash(try Samples.file(.png, 320, 240)))
            try await load(loader(cache), checked)
            #expect(try imageNames(cache).isEmpty)
            try await load(loader(cache), request)
            #expect(try imageNames(cache).count == 1)
            #expect(await isDecoded(checked, cache))
            await #expect(throws: ImageError.self) {
                try await load(loader(cache, canDecode: false) { $0.storesDecodedImages = false }, request)
            }
        }
    }

    private struct Unchanged: BodyTransform, BodyTransformer {
        func transformer(for head: ResponseHead) async throws -> (any BodyTransformer)? { self }
        func transform(_ bytes: [UInt8]) async throws -> [UInt8] { bytes }
        func finish() async throws -> [UInt8] { [] }
    }

    @Test func imageOfAResponseThatMustNotBeStoredIsNotStored() async throws {
        try await withCache { origin, cache in
            origin.route("/a", .init(headerFields: ["Cache-Control": "no-store"], body: try Samples.file(.png)))
            origin.route("/b", .init(headerFields: fresh, body: try Samples.file(.png)))
            try await load(loader(cache), ImageRequest(origin.url("/a"), maximumSide: 10))
            let fields: HTTPFields = [.cacheControl: "no-store"]
            try await load(loader(cache), request(origin.url("/b"), 10, fields))
            #expect(cache.entryCount == 0)
        }
    }

    @Test(arguments: TestStorage.allCases)
    func imagesCountTowardTheLimitAndAreRemovedFirstIfUnused(storage: TestStorage) async throws {
        try await withCache(storage, maximumBytes: 200 << 10) { origin, cache in
            origin.route("/*", .init(headerFields: fresh, body: try Samples.file(.png, 320, 240)))
            for number in 0..<12 {
                try await load(loader(cache), ImageRequest(origin.url("/\(number)"), maximumSide: 160))
                #expect(cache.byteCount <= 200 << 10)
            }
            #expect(cache.statistics.evictions > 0)
            #expect(try !imageNames(cache).isEmpty)
        }
    }

    @Test func imageLargerThanAnEntryMayBeIsNotStored() async throws {
        try await withCache(.memory, maximumEntryBytes: 32 << 10) { origin, cache in
            origin.route("/a", .init(headerFields: fresh, body: try Samples.file(.jpeg, 320, 240)))
            try await load(loader(cache), ImageRequest(origin.url("/a"), maximumSide: 300))
            #expect(try imageNames(cache).isEmpty && cache.entryCount == 1)
            try await load(loader(cache), ImageRequest(origin.url("/a"), maximumSide: 50))
            #expect(try imageNames(cache).count == 1)
        }
    }

    @Test(arguments: TestStorage.allCases)
    func eightImagesAreStoredForAURLBesideResponsesThatDifferByVary(storage: TestStorage) async throws {
        try await withCache(storage) { origin, cache in
            let body = try Samples.file(.png, 320, 240)
            origin.route("/a", .init(headerFields: ["Cache-Control": "max-age=60", "Vary": "Accept"], body: body))
            for side in 1...12 {
                let accept = side % 2 == 0 ? "image/png" : "image/*"
                try await load(
                    loader(cache),
                    request(origin.url("/a"), side * 10, [.accept: accept]))
            }
            #expect(try imageNames(cache).count == ResponseCache.maximumImages)
            #expect(cache.entryCount == ResponseCache.maximumImages + 2)
            let fields: HTTPFields = [.accept: "image/png"]
            let last = request(origin.url("/a"), 120, fields)
            #expect(await !isDecoded(last, cache))
            #expect(await isDecoded(request(origin.url("/a"), 20, fields), cache))
            #expect(origin.counts.totalRequests == 2)
        }
    }

    @Test func imageIsUsedOnlyForItsCredential() async throws {
        try await withCache { origin, cache in
            origin.route("/a") { request in
                let width = request.headerFields["Authorization"] == "Bearer a" ? 320 : 160
                return .init(headerFields: fresh, body: (try? Samples.file(.png, width, 240)) ?? [])
            }
            let requests = ["a", "b"].map { request(origin.url("/a"), 100, [.authorization: "Bearer \($0)"]) }
            var images: [DecodedImage] = []
            for request in requests { images.append(try await load(loader(cache), request).image) }
            #expect(images[0] != images[1])
            for (request, image) in zip(requests, images) {
                #expect(try await load(loader(cache, canDecode: false), request).image == image)
            }
        }
    }

    @Test func imageIsFoundBehindAStoredRedirect() async throws {
        try await withCache { origin, cache in
            origin.route(
                "/a", .init(status: 301, headerFields: ["Cache-Control": "max-age=60", "Location": "/b"]))
            origin.route("/b", .init(headerFields: fresh, body: try Samples.file(.png, 320, 240)))
            let request = ImageRequest(origin.url("/a"), maximumSide: 100)
            let first = try await load(loader(cache), request)
            let second = try await load(loader(cache, canDecode: false), request)
            #expect(second.image == first.image && second.source == .disk)
            #expect(await !isDecoded(ImageRequest(origin.url("/b"), maximumSide: 100), cache))
            #expect(origin.counts.totalRequests == 2)
        }
    }

    @Test func storedImageIsCheckedAgainstRequirements() async throws {
        try await withCache { origin, cache in
            origin.route("/a", .init(headerFields: fresh, body: try Samples.file(.png, 320, 240)))
            var request = ImageRequest(origin.url("/a"), maximumSide: 100)
            try await load(loader(cache), request)
            request.requirements = ImageRequirements(minimumSide: 300)
            let picky = request
            await #expect(throws: ImageError.self) { try await load(loader(cache), picky) }
        }
    }

    @Test func storedImagesAreNotListedAsResponsesButVerified() async throws {
        try await withCache { origin, cache in
            origin.route("/a", .init(headerFields: fresh, body: try Samples.file(.png, 320, 240)))
            try await load(loader(cache), ImageRequest(origin.url("/a"), maximumSide: 100))
            let count = Tally()
            await cache.forEachEntry { _ in
                count.add()
                return true
            }
            #expect(count.count == 1 && cache.entryCount == 2)
            #expect(try await cache.verify() == (intact: 2, damaged: 0, unreadable: 0))
        }
    }
}
