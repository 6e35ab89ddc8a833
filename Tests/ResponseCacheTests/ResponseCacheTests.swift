import Foundation
import HTTPSemantics
import HTTPTransport
import HTTPTypes
import TestSupport
import Testing
import Threading

@testable import ResponseCache

/// The storing and removal of responses.
@Suite(.timeLimit(.minutes(2)))
struct ResponseCacheTests {
    private let url = "http://example.com/a.png"
    private let time = ManualTime()
    /// A body that exceeds a limit of ten bytes per entry.
    private let tooMuch = [UInt8](repeating: 1, count: 11)

    private func files(_ folder: String) throws -> [String] {
        try cacheFiles(folder)
    }

    @Test(arguments: TestStorage.allCases) func storedResponseIsReturned(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            let body = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            try await cache.store(body, url)
            #expect(try await cache.stored(url) == body)
            #expect(cache.byteCount > body.count && cache.byteCount < body.count + 8_192)
            #expect(cache.entryCount == 1)
            #expect(try await cache.stored(url + "?a") == nil)
            await cache.remove(url)
            #expect(try await cache.stored(url) == nil)
            #expect(cache.byteCount == 0)
        }
    }

    @Test func secondCacheFindsEntriesOfFolder() async throws {
        try await withTemporaryFolder { folder in
            let first = try ResponseCache.test(folder, time)
            try await first.store([1, 2, 3], url)
            let second = try ResponseCache.test(folder, time)
            #expect(try await second.stored(url) == [1, 2, 3])
            #expect(second.byteCount == first.byteCount)
            // Entries stored while both run, too.
            try await first.store([4], url + "2")
            #expect(try await second.stored(url + "2") == [4])
            try await second.store([5, 6], url)
            #expect(try await first.stored(url) == [5, 6])
            try await second.removeAll()
            #expect(try await first.stored(url) == nil)
            #expect(try files(folder) == [])
        }
    }

    @Test func cacheFilesAreReadableOnlyByTheirOwner() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder + "/deep/er", time)
            try await cache.store([1], url)
            let name = try #require(try files(folder + "/deep/er").first)
            for path in ["", "/v5", "/v5/ledger", "/v5/tmp", "/\(name)"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/deep/er" + path)
                let mode = try #require(attributes[.posixPermissions] as? NSNumber)
                #expect(mode.intValue & 0o077 == 0)
            }
        }
    }

    @Test func cacheFileCutAnywhereIsRemovedAsAMiss() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            try await cache.store([UInt8](repeating: 7, count: 50), url)
            let path = folder + "/" + (try #require(try files(folder).first))
            let whole = try Data(contentsOf: URL(fileURLWithPath: path))
            for count in 0..<whole.count {
                try whole.prefix(count).write(to: URL(fileURLWithPath: path))
                #expect(try await cache.stored(url) == nil, "cut at \(count)")
                #expect(try files(folder) == [])
            }
            try (whole + [0]).write(to: URL(fileURLWithPath: path))
            #expect(try await cache.stored(url) == nil)
            try whole.write(to: URL(fileURLWithPath: path))
            #expect(try await cache.stored(url)?.count == 50)
        }
    }

    /// The prefix, the head, and the body are in use; the rest of the region is empty.
    @Test func changedCacheFileIsNeverServedIncorrectly() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            let body = [UInt8](repeating: 7, count: 50)
            try await cache.store(body, url)
            let path = folder + "/" + (try #require(try files(folder).first))
            let whole = try Data(contentsOf: URL(fileURLWithPath: path))
            for index in 0..<whole.count {
                var damaged = whole
                damaged[index] ^= 0x41
                try damaged.write(to: URL(fileURLWithPath: path))
                let served = try await cache.stored(url)
                let isUsed = index < EntryFile.prefixLength || index >= whole.count - body.count
                #expect(served == nil || served == body && !isUsed && whole[index] == 0, "byte \(index)")
            }
        }
    }

    @Test func aFileOfAnotherURLIsAMiss() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            try await cache.store([1], url)
            let name = try #require(try files(folder).first)
            let other = ShardFile.entry(CachedResource(TransportRequest(url: try HTTPURL(url + "2"))).plainKey)
            let path = "\(folder)/v5/\(other.path)"
            try FileManager.default.createDirectory(
                atPath: "\(folder)/v5/\(other.folder)", withIntermediateDirectories: true)
            try FileManager.default.moveItem(atPath: "\(folder)/\(name)", toPath: path)
            #expect(try await cache.stored(url + "2") == nil)
            #expect(try await cache.stored(url) == nil)
        }
    }

    @Test(arguments: TestStorage.allCases) func cacheEvictsLeastRecentlyUsedResponsesFirst(storage: TestStorage)
        async throws
    {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time, maximumBytes: 40_000)
            for number in 1...3 { try await cache.store([UInt8](repeating: 1, count: 10_000), url + "\(number)") }
            #expect(try await cache.stored(url + "1") != nil)
            try await cache.store([UInt8](repeating: 1, count: 10_000), url + "4")
            #expect(try await cache.stored(url + "2") == nil)
            for number in [1, 3, 4] { #expect(try await cache.stored(url + "\(number)") != nil) }
            if storage == .folder { #expect(try files(folder).count == 3) }
        }
    }

    @Test func overlargeResponseLeavesNoFile() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time, maximumBytes: 30_000, maximumEntryBytes: 10_000)
            try await cache.store([UInt8](repeating: 1, count: 10_001), url)
            #expect(try files(folder) == [])
            try await cache.store([], url)
            #expect(try files(folder) == [])
            try await cache.store([UInt8](repeating: 1, count: 10_000), url)
            #expect(try files(folder).count == 1)
        }
    }

    @Test(arguments: TestStorage.allCases, [20_000, 50_000])
    func unstorableResponseRemovesOlderOne(storage: TestStorage, maximumBytes: Int) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(
                folder, time, maximumBytes: maximumBytes, maximumEntryBytes: 30_000)
            try await cache.store([1], url)
            try await cache.store([2], url + "2")
            // Too large for an entry, or for the whole cache.
            try await cache.store([UInt8](repeating: 1, count: maximumBytes == 20_000 ? 20_001 : 30_001), url)
            #expect(try await cache.stored(url) == nil)
            #expect(try await cache.stored(url + "2") == [2])
        }
    }

    @Test(arguments: TestStorage.allCases) func emptyBodyRemovesTheOlderResponse(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            try await cache.store([1], url)
            try await cache.store([], url)
            #expect(try await cache.stored(url) == nil)
            #expect(cache.byteCount == 0)
        }
    }

    @Test(arguments: TestStorage.allCases) func unstorableResponseKeepsNewerOne(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time, maximumEntryBytes: 10)
            let writer = try writer(in: cache)
            time.advance(by: 1)
            try await cache.store([2], url)
            await writer.append(tooMuch)
            await writer.commit()
            await cache.settles()
            #expect(try await cache.stored(url) == [2])
        }
    }

    /// Otherwise nothing could remove it until its time has come.
    @Test(arguments: TestStorage.allCases) func unstorableResponseRemovesOneFromTheFuture(storage: TestStorage)
        async throws
    {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time, maximumEntryBytes: 10)
            try await cache.store([1], url)
            time.advance(by: -3_600)
            try await cache.store(tooMuch, url)
            #expect(try await cache.stored(url) == nil)
        }
    }

    @Test(arguments: TestStorage.allCases) func unstorableResponseKeepsOtherVariants(storage: TestStorage) async throws
    {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time, maximumEntryBytes: 10)
            let fields: HTTPFields = [.cacheControl: "max-age=60", .vary: "Accept"]
            try await cache.store([1], url, fields, to: [.accept: "image/png"])
            try await cache.store([2], url, fields, to: [.accept: "image/webp"])
            try await cache.store(tooMuch, url, fields, to: [.accept: "image/webp"])
            #expect(try await cache.stored(url, to: [.accept: "image/png"]) == [1])
            #expect(try await cache.stored(url, to: [.accept: "image/webp"]) == nil)
            // With another rule, the owner is unknown.
            try await cache.store(tooMuch, url)
            #expect(try await cache.stored(url, to: [.accept: "image/png"]) == nil)
        }
    }

    /// Returns a writer for the response to a request that is sent now.
    private func writer(in cache: ResponseCache) throws -> EntryWriter {
        let request = TransportRequest(url: try HTTPURL(url))
        let head = StoredHead(
            HTTPResponse(status: .ok), to: request, requestedAt: cache.now(), receivedAt: cache.now())
        return EntryWriter(head, CachedResource(request), cache: cache)
    }

    @Test func removingExpiredResponsesKeepsFreshOnes() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            try await cache.store([1], url, [.cacheControl: "max-age=10"])
            try await cache.store([2], url + "2", [.cacheControl: "max-age=100"])
            time.advance(by: 50)
            // A cache that has just been opened knows the expired responses, too.
            await (try ResponseCache.test(folder, time)).removeExpired()
            #expect(try await cache.stored(url) == nil)
            #expect(try await cache.stored(url + "2") == [2])
            #expect(cache.entryCount == 1)
        }
    }

    @Test func impossibleCacheFolderIsAFileFailure() async throws {
        try await withTemporaryFolder { folder in
            #expect(FileManager.default.createFile(atPath: folder, contents: Data()))
            #expect(throws: FileFailure.self) { try ResponseCache.test(folder, time) }
            #expect(throws: FileFailure.self) { try ResponseCache.test(folder + "/a", time) }
        }
    }

    @Test func aFolderThatVanishesIsMadeAgain() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            try await cache.store([1], url)
            try FileManager.default.removeItem(atPath: folder)
            #expect(try await cache.stored(url) == nil)
            #expect(cache.byteCount == 0)
            try await cache.store([1], url)
            #expect(try await cache.stored(url) == [1])
            #expect(cache.entryCount == 1)
            #expect(cache.failure == nil)
        }
    }

    @Test(arguments: [
        "max-age=60", "no-cache", "max-age=5, must-revalidate", "max-age=60, immutable", "stale-if-error=7, max-age=0",
        "max-age=1, stale-while-revalidate=0", "max-age=99999999999999999999",
    ])
    func freshnessIsStoredWithTheHead(control: String) throws {
        let fields: HTTPFields = [
            .cacheControl: control, .date: "Sun, 06 Nov 1994 08:49:37 GMT", .age: "12", .eTag: "\"a\"",
        ]
        let head = StoredHead(
            HTTPResponse(status: .ok, headerFields: fields), to: TransportRequest(url: try HTTPURL(url)),
            requestedAt: 784_111_780, receivedAt: 784_111_790)
        let read = try #require(StoredHead(head.bytes))
        #expect(read.freshness == head.freshness && read.fields == fields)
        #expect(head.packed == head && head.packed.bytes == head.bytes && read.parsed.freshness == head.freshness)
    }

    @Test func writtenHeadsAreReadBackUnchanged() throws {
        let request = TransportRequest(url: try HTTPURL(url), headerFields: [.authorization: "Bearer secret"])
        let head = StoredHead(
            HTTPResponse(status: .ok, headerFields: [.eTag: "\"a\"", .vary: "Accept", .contentType: "image/png"]),
            to: request, requestedAt: 5, receivedAt: 6)
        #expect(StoredHead(head.bytes) == head)
        #expect(!String(decoding: head.bytes, as: UTF8.self).contains("secret"))
        for count in 0..<head.bytes.count { #expect(StoredHead(Array(head.bytes.prefix(count))) == nil) }
        var random = SplitMix(seed: 7)
        for _ in 0..<500 {
            var damaged = head.bytes
            damaged[Int.random(in: damaged.indices, using: &random)] = .random(in: 0...255, using: &random)
            if let read = StoredHead(damaged) { _ = read.freshness.age(at: .max >> 8) }
        }
    }
}
