import Dispatch
import Foundation
import HTTPTransport
import HTTPTypes
import TestSupport
import Testing
import Threading

@testable import ResponseCache

/// The size limit of a folder holds however many caches use it, and for however long: each stands for a process.
@Suite(.timeLimit(.minutes(5)))
struct FolderLimitTests {
    private let url = "http://example.com/"
    private let time = ManualTime()
    private let body = [UInt8](repeating: 1, count: 10_000)
    /// The space of one entry with ``body``.
    private let space = 12_288

    /// The size of all entries and lists in blocks, counted file by file.
    private func counted(_ folder: String) throws -> Int {
        try cacheFiles(folder).reduce(0) { sum, path in
            let size = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(path)")[.size] as? Int ?? 0
            return sum + (size + 4_095) / 4_096 * 4_096
        }
    }

    @Test func fullCacheFolderStaysWithinItsLimitOverManyShortUses() async throws {
        try await withTemporaryFolder { folder in
            let limit = 40 * space
            for run in 0..<60 {
                let cache = try ResponseCache.test(folder, time, maximumBytes: limit)
                for number in 0..<3 { try await cache.store(body, url + "\(run)-\(number)") }
            }
            let last = try ResponseCache.test(folder, time, maximumBytes: limit)
            #expect((limit * 9 / 10...limit).contains(last.byteCount))
            let counted = try counted(folder)
            #expect(last.byteCount == counted)
        }
    }

    @Test func severalCachesKeepOneLimitTogether() async throws {
        try await withTemporaryFolder { folder in
            let limit = 40 * space
            let caches = try (0..<4).map { _ in try ResponseCache.test(folder, time, maximumBytes: limit) }
            try await withThrowingTaskGroup { group in
                for (number, cache) in caches.enumerated() {
                    group.addTask { [body, url] in
                        for entry in 0..<50 { try await cache.store(body, url + "\(number)-\(entry)") }
                    }
                }
                try await group.waitForAll()
            }
            for cache in caches { await cache.flush() }
            #expect((limit * 9 / 10...limit).contains(caches[0].byteCount))
            let counted = try counted(folder)
            #expect(Set(caches.map(\.byteCount)) == [counted])
        }
    }

    @Test func theLimitHoldsWhileSeveralCachesStore() async throws {
        try await withTemporaryFolder { folder in
            let limit = 40 * space
            let caches = try (0..<4).map { _ in try ResponseCache.test(folder, time, maximumBytes: limit) }
            try await withThrowingTaskGroup { group in
                for (number, cache) in caches.enumerated() {
                    group.addTask { [body, url, time] in
                        for entry in 0..<40 {
                            let request = TransportRequest(url: try HTTPURL(url + "\(number)-\(entry)"))
                            let head = StoredHead(
                                HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"]), to: request,
                                requestedAt: time.now, receivedAt: time.now)
                            let writer = EntryWriter(head, CachedResource(request), cache: cache)
                            await writer.append(body)
                            await writer.commit()
                            #expect(cache.byteCount <= limit * 5 / 4)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// One that is larger than the limit would only remove the others.
    @Test func aBodyBeyondTheLimitRemovesNothing() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time, maximumBytes: 10 * space)
            for number in 1...5 { try await cache.store(body, url + "\(number)") }
            try await cache.store([UInt8](repeating: 1, count: 11 * space), url)
            #expect(cache.entryCount == 5 && cache.failure == nil)
        }
    }

    @Test func usesByOtherCachesAffectEviction() async throws {
        try await withTemporaryFolder { folder in
            let first = try ResponseCache.test(folder, time)
            for number in 1...20 { try await first.store(body, url + "\(number)") }
            let second = try ResponseCache.test(folder, time)
            for number in [3, 1, 2] { #expect(try await second.stored(url + "\(number)") != nil) }
            let third = try ResponseCache.test(folder, time, maximumBytes: 4 * space)
            await third.flush()
            var left: [Int] = []
            for number in 1...20 where try await first.stored(url + "\(number)") != nil { left.append(number) }
            #expect(left == [1, 2, 3])
        }
    }

    /// Otherwise no new response would remain stored until the clock has caught up.
    @Test func entriesUsedInTheFutureAreEvictedFirst() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            for number in 1...4 { try await cache.store(body, url + "\(number)") }
            let entries = try #require(cache.testFolder)
            for number in 1...3 {
                let key = CachedResource(TransportRequest(url: try HTTPURL(url + "\(number)"))).plainKey
                entries.markUsed(.entry(key), at: OpenFile.now + 86_400_000_000_000)
            }
            await cache.trim(to: 2 * space)
            #expect(cache.entryCount == 1)
            #expect(try await cache.stored(url + "4") == body)
        }
    }

    /// Each trim reaches its target even while another one removes entries for a higher target.
    @Test func concurrentTrimsReachTheirOwnTargets() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            for number in 0..<200 { try await cache.store(body, url + "\(number)") }
            let counts = Locked(0)
            DispatchQueue.concurrentPerform(iterations: 40) { [storage = cache.storage, space] number in
                let target = (195 - 4 * number) * space
                let count = try? storage.trim(to: target)
                counts.withLock { $0 += count ?? 0 }
                #expect(storage.byteCount <= target)
            }
            #expect(cache.entryCount == 200 - counts.withLock { $0 })
        }
    }

    @Test func openingANewFolderCountsNoShards() async throws {
        for _ in 0..<50 {
            try await withTemporaryFolder { folder in
                let cache = try ResponseCache.test(folder, time)
                await cache.flush()
                let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/v5")
                #expect(names.sorted() == ["ledger", "tmp"])
            }
        }
    }

    /// A program that cleans up temporary folders has removed them.
    @Test func filesRemovedByOthersDoNotCountAgainstTheLimit() async throws {
        try await withTemporaryFolder { folder in
            let first = try ResponseCache.test(folder, time)
            for number in 1...40 { try await first.store(body, url + "\(number)") }
            for path in try cacheFiles(folder).prefix(20) {
                try FileManager.default.removeItem(atPath: "\(folder)/\(path)")
            }
            let second = try ResponseCache.test(folder, time, maximumBytes: 30 * space)
            await second.flush()
            #expect(second.entryCount == 20 && second.statistics.evictions == 0)
            let counted = try counted(folder)
            #expect(second.byteCount == counted && counted == 20 * space)
        }
    }

    @Test func aLowerLimitIsObeyedWhenAFolderIsOpened() async throws {
        try await withTemporaryFolder { folder in
            let first = try ResponseCache.test(folder, time)
            for number in 1...10 { try await first.store(body, url + "\(number)") }
            let second = try ResponseCache.test(folder, time, maximumBytes: 3 * space)
            await second.flush()
            #expect(second.byteCount <= 3 * space && second.entryCount > 0)
        }
    }
}
