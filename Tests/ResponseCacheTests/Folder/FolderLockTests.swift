import CLinux
import Foundation
import HTTPTransport
import HTTPTypes
import TestSupport
import Testing

@testable import ResponseCache

/// A process that has been stopped in the middle of a change keeps its lock, for which others do not wait forever.
@Suite(.timeLimit(.minutes(2)))
struct FolderLockTests {
    private let url = "http://example.com/a"
    private let time = ManualTime()

    /// The file of the entry of ``url``.
    private func entry() throws -> ShardFile {
        .entry(CachedResource(TransportRequest(url: try HTTPURL(url))).plainKey)
    }

    /// Returns the folder of the shard of ``url``, locked until it is released.
    private func lockedShard(_ cache: ResponseCache) throws -> OpenFile {
        let folder = try #require(cache.testFolder)
        let shard = try OpenFile(folder: "\(folder.base)/\(entry().folder)")
        try #require(shard.lock())
        return shard
    }

    /// Stores a response for ``url`` after its shard has been unlocked.
    private func store(_ body: [UInt8], _ cache: ResponseCache) async throws {
        // A process that another test starts can inherit the lock for a moment.
        for _ in 0..<1_000 where try await cache.stored(url) != body { try await cache.store(body, url) }
        #expect(try await cache.stored(url) == body)
    }

    /// The response that it would have replaced is outdated.
    @Test func responseWhoseShardStaysLockedIsRemovedAndItsSuccessorIsNotStored() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            try await cache.store([1], url)
            let byteCount = cache.byteCount
            do {
                let shard = try lockedShard(cache)
                // The second attempt does not wait again.
                for _ in 0..<2 { try await cache.store([2], url) }
                #expect(cache.byteCount == 0 && cache.entryCount == 0 && cache.failure == nil)
                let files = try cacheFiles(folder)
                #expect(files == [])
                withExtendedLifetime(shard) {}
            }
            #expect(try await cache.stored(url) == nil)
            #expect(cache.byteCount == 0 && cache.entryCount == 0)
            try await store([3], cache)
            #expect(cache.byteCount == byteCount && cache.entryCount == 1)
        }
    }

    @Test func responseIsRemovedWhileItsShardStaysLocked() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            try await cache.store([1], url)
            let shard = try lockedShard(cache)
            await cache.remove(url)
            #expect(try await cache.stored(url) == nil)
            #expect(cache.byteCount == 0 && cache.entryCount == 0)
            let files = try cacheFiles(folder)
            #expect(files == [])
            withExtendedLifetime(shard) {}
        }
    }

    /// The list of variants can be changed only later.
    @Test func variantIsRemovedWhileItsShardStaysLocked() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            let fields: HTTPFields = [.cacheControl: "max-age=60", .vary: "Accept"]
            try await cache.store([1], url, fields, to: [.accept: "image/png"])
            do {
                let shard = try lockedShard(cache)
                await cache.remove(url)
                #expect(try await cache.stored(url, to: [.accept: "image/png"]) == nil)
                #expect(cache.entryCount == 0)
                withExtendedLifetime(shard) {}
            }
            try await store([2], cache)
            let files = try cacheFiles(folder)
            #expect(files.count == 1)
            #expect(cache.byteCount == EntryFolder.Status.space(of: 1) && cache.entryCount == 1)
        }
    }

    /// The process with the lock continues, and knows nothing of the removal.
    @Test func sizeIsCorrectedAfterARemovalFromALockedShard() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            try await cache.store([1], url)
            let byteCount = cache.byteCount
            do {
                let shard = try lockedShard(cache)
                await cache.remove(url)
                try Ledger(in: OpenFolder(path: "\(folder)/v5"))
                    .set(entry().shard, EntryFolder.Totals(bytes: byteCount, entries: 1))
                withExtendedLifetime(shard) {}
            }
            try await store([2], cache)
            #expect(cache.byteCount == byteCount && cache.entryCount == 1)
        }
    }

    /// The change that was interrupted has made the record of the shard invalid.
    @Test func sizeIsKnownWhileAShardStaysLocked() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            try await cache.store([1], url)
            let byteCount = cache.byteCount
            let shard = try lockedShard(cache)
            try Ledger(in: OpenFolder(path: "\(folder)/v5")).invalidate(entry().shard)
            #expect(cache.byteCount == byteCount && cache.entryCount == 1)
            #expect(throws: FileFailure(code: EAGAIN)) { try cache.storage.removeAll() }
            withExtendedLifetime(shard) {}
        }
    }
}
