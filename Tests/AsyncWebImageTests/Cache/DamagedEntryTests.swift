import Foundation
import HTTPTransport
import LoopbackOrigin
import TestSupport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// Damaged files are downloaded again, wherever the damage is, and without a retry policy.
@Suite(.timeLimit(.minutes(2)))
struct DamagedEntryTests {
    /// The length of a body that is read in pieces.
    private static let longBody = StoredBody.maximumShortLength + 100_000

    private let time = ManualTime()

    private struct Identity: BodyTransform, BodyTransformer {
        func transformer(for head: ResponseHead) async throws -> (any BodyTransformer)? { self }
        func transform(_ bytes: [UInt8]) async throws -> [UInt8] { bytes }
        func finish() async throws -> [UInt8] { [] }
    }

    private func loader(_ folder: String, policy: CachePolicy = .useProtocol, hasHook: Bool = false) throws
        -> (ImageLoader, ResponseCache)
    {
        var configuration = ImageLoader.Configuration.patient
        let cache = try ResponseCache.test(folder, time)
        configuration.responseCache = cache
        configuration.cachePolicy = policy
        if hasHook { configuration.downloads.bodyTransform = Identity() }
        return (ImageLoader(configuration: configuration), cache)
    }

    /// Calls `body` with an origin of a file, and the folder in which it is stored with another byte at `index`.
    private func withDamage(
        at index: (_ entry: Data) -> Int, to file: [UInt8], _ body: (LoopbackOrigin, String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await withLoopbackOrigin { origin in
                origin.route("/a", .init(headerFields: ["Cache-Control": "max-age=60", "ETag": "\"a\""], body: file))
                let cache = try ResponseCache.test(folder, time)
                try await cache.store(file, origin.url("/a"), [.cacheControl: "max-age=60", .eTag: "\"a\""])
                let name = try #require(try cacheFiles(folder).first)
                let path = URL(fileURLWithPath: "\(folder)/\(name)")
                var entry = try Data(contentsOf: path)
                entry[index(entry)] ^= 0x41
                try entry.write(to: path)
                try await body(origin, folder)
            }
        }
    }

    @Test(arguments: [50_000, 200_000, longBody], [true, false])
    func damagedStoredBodyIsFetchedAgain(length: Int, hasHook: Bool) async throws {
        let file = [UInt8](repeating: 7, count: length)
        for place in [0.0, 0.1, 0.5, 0.9, 1.0] {
            try await withDamage(at: { Int(Double($0.count - 1) * place) }, to: file) { origin, folder in
                let (loader, cache) = try loader(folder, hasHook: hasHook)
                let data = try await loader.data(for: ImageRequest(origin.url("/a")))
                #expect(data.bytes == file && data.source == .network)
                await loader.coordinator.becomesIdle()
                await cache.settles()
                let again = try await loader.data(for: ImageRequest(origin.url("/a")))
                #expect(again.bytes == file && again.source == .disk)
                #expect(origin.counts.totalRequests == 1)
            }
        }
    }

    /// The storage fails at once, or within the body.
    @Test(arguments: [0, 100_000, 250_000])
    func storedBodyThatCannotBeReadIsFetchedAgainAndRemains(readableBytes: Int) async throws {
        struct Broken: Error {}
        let file = [UInt8](repeating: 7, count: Self.longBody)
        let storage = DictionaryStorage()
        let cache = ResponseCache(.init(), storage: storage, now: { [time] in time.now })
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: file))
            try await cache.store(file, origin.url("/a"))
            // The new response cannot replace the stored one.
            storage.fail(Broken(), in: [.read, .write, .remove], readableBytes: readableBytes)
            var configuration = ImageLoader.Configuration.patient
            configuration.responseCache = cache
            let loader = ImageLoader(configuration: configuration)
            let data = try await loader.data(for: ImageRequest(origin.url("/a")))
            #expect(data.bytes == file && data.source == .network)
            #expect(origin.counts.totalRequests == 1 && storage.entryCount == 1)
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func imageOfADamagedEntryIsDownloadedAgain() async throws {
        let file = try Samples.file(.png, 1_300, 1_000)
        try await withDamage(at: { $0.count - 1_000 }, to: file) { origin, folder in
            let (loader, _) = try loader(folder)
            let response = try await loader.image(for: ImageRequest(origin.url("/a")))
            #expect(response.pixels == Samples.picture(1_300, 1_000) && response.source == .network)
            await loader.coordinator.becomesIdle()
        }
    }

    @Test(arguments: [50_000, longBody]) func damagedEntryIsFetchedAgainAfter304(length: Int) async throws {
        let file = [UInt8](repeating: 7, count: length)
        try await withDamage(at: { _ in 10_000 }, to: file) { origin, folder in
            time.advance(by: 61)
            origin.route("/a") { request in
                let fields: HeaderFields = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
                return request.headerFields["If-None-Match"] == nil
                    ? .init(headerFields: fields, body: file) : .init(status: 304, headerFields: fields)
            }
            let (loader, _) = try loader(folder)
            let data = try await loader.data(for: ImageRequest(origin.url("/a")))
            #expect(data.bytes == file && data.source == .network)
            #expect(origin.counts.totalRequests == 2)
            await loader.coordinator.becomesIdle()
        }
    }

    @Test(arguments: [50_000, longBody]) func damagedEntryIsAnErrorForCacheOnlyRequest(length: Int) async throws {
        let file = [UInt8](repeating: 7, count: length)
        try await withDamage(at: { _ in 10_000 }, to: file) { origin, folder in
            let (loader, _) = try loader(folder, policy: .cacheOnly)
            let error = await #expect(throws: ImageError.self) {
                try await loader.data(for: ImageRequest(origin.url("/a")))
            }
            guard case .transport(let cause) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(cause.reason == .notCached)
            #expect(origin.counts.totalRequests == 0)
            await loader.coordinator.becomesIdle()
        }
    }
}
