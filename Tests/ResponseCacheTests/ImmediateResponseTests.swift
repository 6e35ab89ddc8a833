import Foundation
import HTTPTransport
import HTTPTypes
import TestSupport
import Testing

@testable import ResponseCache

/// Responses that a cache can read without waiting for a disk.
@Suite(.timeLimit(.minutes(2)))
struct ImmediateResponseTests {
    private let time = ManualTime()
    private let url = "http://example.com/a"
    private let body = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    /// The storages that can read entries without waiting.
    private static let storages: [TestStorage] = [.folder, .memory]

    private func immediate(
        _ cache: ResponseCache, _ policy: CachePolicy = .useProtocol, path: String = "",
        _ change: (inout TransportRequest) -> Void = { _ in }
    ) throws -> (reply: StoredReply, body: [UInt8])? {
        var request = TransportRequest(url: try HTTPURL(url + path))
        change(&request)
        return cache.immediateResponse(to: request, policy: policy) { _ in true }
    }

    /// Returns the response that is read immediately, which the kernel refuses while another file is being renamed.
    private func found(
        _ cache: ResponseCache, _ policy: CachePolicy = .useProtocol, _ path: String = ""
    ) throws -> (reply: StoredReply, body: [UInt8])? {
        for _ in 0..<10_000 {
            if let response = try immediate(cache, policy, path: path) { return response }
        }
        return nil
    }

    private func withCache(
        _ storage: TestStorage, _ use: (ResponseCache) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { try await use(try storage.cache($0, time)) }
    }

    /// The path of the only entry of a cache in a folder.
    private func path(_ cache: ResponseCache) throws -> String {
        let folder = try #require(cache.configuration.directory)
        return "\(folder)/" + (try #require(try cacheFiles(folder).first))
    }

    @Test(arguments: storages)
    func freshResponseIsReadImmediately(storage: TestStorage) async throws {
        try await withCache(storage) { cache in
            #expect(try immediate(cache) == nil)
            try await cache.store(body, url)
            time.advance(by: 10)
            let response = try #require(try found(cache))
            #expect(response.body == body)
            #expect(response.reply.head.response.headerFields[.age] == "10")
            #expect(response.reply.source == (storage == .folder ? .disk : .responseCacheMemory))
            #expect(cache.statistics.hits == 1)
        }
    }

    @Test func customStorageIsNotReadImmediately() async throws {
        try await withCache(.dictionary) { cache in
            try await cache.store(body, url)
            #expect(try immediate(cache) == nil)
        }
    }

    @Test(
        arguments: storages,
        [
            (.useProtocol, true, false), (.revalidate, false, false), (.cacheElseLoad, true, true),
            (.cacheOnly, true, true), (.reload, false, false), (.noStore, false, false),
        ] as [(CachePolicy, Bool, Bool)])
    func cachePolicySelectsImmediateResponse(
        storage: TestStorage, _ expected: (policy: CachePolicy, fresh: Bool, stale: Bool)
    ) async throws {
        try await withCache(storage) { cache in
            try await cache.store(body, url, [.cacheControl: "max-age=60", .eTag: "\"a\""])
            let fresh = try expected.fresh ? found(cache, expected.policy) : immediate(cache, expected.policy)
            #expect((fresh != nil) == expected.fresh)
            time.advance(by: 61)
            let stale = try expected.stale ? found(cache, expected.policy) : immediate(cache, expected.policy)
            #expect((stale != nil) == expected.stale)
        }
    }

    /// Otherwise nothing would revalidate it.
    @Test func responseServedWhileRevalidatingIsNotReadImmediately() async throws {
        try await withCache(.folder) { cache in
            try await cache.store(body, url, [.cacheControl: "max-age=60, stale-while-revalidate=60"])
            time.advance(by: 61)
            #expect(try immediate(cache) == nil)
        }
    }

    @Test(arguments: storages)
    func requestsOfOthersAndForPartsAreNotAnsweredImmediately(storage: TestStorage) async throws {
        try await withCache(storage) { cache in
            try await cache.store(body, url)
            let changes: [@Sendable (inout TransportRequest) -> Void] = [
                { $0.handlesCookies = true }, { $0.method = .head }, { $0.headerFields[.range] = "bytes=0-9" },
                { $0.headerFields[.ifNoneMatch] = "\"a\"" }, { $0.headerFields[.cacheControl] = "no-cache" },
                { $0.headerFields[.authorization] = "secret" },
            ]
            for change in changes { #expect(try immediate(cache, .useProtocol, change) == nil) }
            #expect(try found(cache) != nil)
            #expect(cache.statistics.hits == 1)
        }
    }

    /// Its name depends on fields of the request.
    @Test func responseThatVariesIsNotReadImmediately() async throws {
        try await withCache(.folder) { cache in
            try await cache.store(body, url, [.cacheControl: "max-age=60", .vary: "Accept"])
            #expect(try immediate(cache) == nil)
            #expect(try await cache.stored(url) == body)
        }
    }

    @Test func refusedImmediateResponseIsNoHit() async throws {
        try await withCache(.folder) { cache in
            try await cache.store(body, url)
            let request = TransportRequest(url: try HTTPURL(url))
            #expect(cache.immediateResponse(to: request, policy: .useProtocol) { _ in false } == nil)
            #expect(cache.statistics.hits == 0)
        }
    }

    @Test func responseOlderThanTheMaximumAgeIsNotReadImmediately() async throws {
        let configuration = ResponseCache.Configuration(maximumAge: 30)
        let cache = try ResponseCache(configuration, now: { [time] in time.now })
        try await cache.store(body, url)
        time.advance(by: 29)
        #expect(try immediate(cache) != nil)
        time.advance(by: 1)
        #expect(try immediate(cache) == nil)
    }

    @Test(arguments: storages)
    func onlyShortBodiesAreReadImmediately(storage: TestStorage) async throws {
        try await withCache(storage) { cache in
            let longest = [UInt8](repeating: 1, count: StoredBody.maximumShortLength)
            try await cache.store(longest, url)
            #expect(try found(cache)?.body == longest)
            try await cache.store(longest + [1], url)
            #expect(try immediate(cache) == nil)
        }
    }

    @Test(arguments: storages)
    func bodyBeyondTheLimitOfTheRequestIsNotReadImmediately(storage: TestStorage) async throws {
        try await withCache(storage) { cache in
            try await cache.store(body, url)
            let change: @Sendable (inout TransportRequest) -> Void = { $0.maximumBodyBytes = 19_999 }
            #expect(try immediate(cache, .useProtocol, change) == nil)
            #expect(try found(cache) != nil)
        }
    }

    /// Heads longer than usual are read with another call.
    @Test func responseWithALongHeadIsNotReadImmediately() async throws {
        try await withCache(.folder) { cache in
            let name = try #require(HTTPField.Name("X-Text"))
            try await cache.store(body, url, [.cacheControl: "max-age=60", name: String(repeating: "x", count: 4_000)])
            #expect(try immediate(cache) == nil)
            #expect(try await cache.stored(url) == body)
        }
    }

    @Test(arguments: [0, 20, 100, 2_048, 22_047])
    func damagedEntryIsNotReadImmediately(position: Int) async throws {
        try await withCache(.folder) { cache in
            try await cache.store(body, url)
            let path = URL(fileURLWithPath: try path(cache))
            var entry = try Data(contentsOf: path)
            entry[position] ^= 0x41
            try entry.write(to: path)
            #expect(try immediate(cache) == nil)
        }
    }

    @Test(arguments: [0, 1_000, 2_048, 22_047])
    func truncatedEntryIsNotReadImmediately(length: Int) async throws {
        try await withCache(.folder) { cache in
            try await cache.store(body, url)
            #expect(truncate(try path(cache), length) == 0)
            #expect(try immediate(cache) == nil)
        }
    }

    @Test func skippedEntryIsNotReadImmediately() async throws {
        try await withCache(.memory) { cache in
            try await cache.store(body, url)
            let request = TransportRequest(url: try HTTPURL(url))
            cache.skip(CachedResource(request).plainKey)
            #expect(try immediate(cache) == nil)
        }
    }

    @Test func pipeInPlaceOfAnEntryIsNotWaitedFor() async throws {
        try await withCache(.folder) { cache in
            try await cache.store(body, url)
            let path = try path(cache)
            try FileManager.default.removeItem(atPath: path)
            try #require(mkfifo(path, 0o600) == 0)
            #expect(try immediate(cache) == nil)
        }
    }

    @Test(
        arguments: [
            (ENOSYS, true), (EPERM, true), (EINVAL, true), (EOPNOTSUPP, true), (ENOENT, false), (EAGAIN, false),
            (EMFILE, false), (ENFILE, false), (ENOMEM, false), (EINTR, false),
        ] as [(Int32, Bool)])
    func onlyRefusedCallsEndImmediateReads(code: Int32, isRefusal: Bool) {
        #expect(FolderStorage.isRefusal(code) == isRefusal)
    }

    // MARK: Uses

    @Test func responsesReadImmediatelyAreEvictedLast() async throws {
        try await withCache(.folder) { cache in
            for number in 1...4 { try await cache.store(body, url + "\(number)") }
            // All were used a while ago, the first one the longest.
            let folder = try #require(cache.testFolder)
            for number in 1...4 { folder.markUsed(try entry(number), at: OpenFile.now - (10 - number) * 2_000_000_000) }
            for number in [2, 1] {
                #expect(try found(cache, .useProtocol, "\(number)") != nil)
            }
            // Slightly more than necessary is removed.
            await cache.trim(to: 2 * 24_576 + 1_000)
            for number in 1...4 {
                let isStored = try await cache.stored(url + "\(number)") != nil
                #expect(isStored == (number < 3), "\(number)")
            }
        }
    }

    private func entry(_ number: Int) throws -> ShardFile {
        .entry(CachedResource(TransportRequest(url: try HTTPURL(url + "\(number)"))).plainKey)
    }

    /// Otherwise other processes would not know of it.
    @Test func useOfAnEntryNotUsedForLongIsRecordedSoon() async throws {
        try await withCache(.folder) { cache in
            try await cache.store(body, url + "1")
            let (folder, entry) = (try #require(cache.testFolder), try entry(1))
            let before = OpenFile.now
            folder.markUsed(entry, at: before - PendingUses.maximumAge)
            #expect(try found(cache, .useProtocol, "1") != nil)
            await cache.thread.finish()
            #expect(try #require(folder.status(entry)).usedAt >= before)
        }
    }
}
