import CLinux
import Foundation
import HTTPTransport
import TestSupport
import Testing

@testable import ResponseCache

/// A process that has been stopped in the middle of a change keeps its lock, for which others do not wait forever.
@Suite(.timeLimit(.minutes(2)))
struct FolderLockTests {
    private let url = "http://example.com/a"
    private let time = ManualTime()

    /// The name of the entry of ``url``.
    private func name() throws -> String {
        StoredHead.plainName(CacheKey(TransportRequest(url: try HTTPURL(url))).name)
    }

    /// Returns the folder of the shard of ``url``, locked until it is released.
    private func lockedShard(_ cache: ResponseCache) throws -> OpenFile {
        let (folder, name) = (try #require(cache.testFolder), try name())
        let shard = try OpenFile(folder: String(folder.path(of: name).dropLast(name.count + 1)))
        try #require(shard.lock())
        return shard
    }

    @Test func responseWhoseShardStaysLockedIsNotStored() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            try await cache.store([1], url)
            do {
                let shard = try lockedShard(cache)
                // The second attempt does not wait again.
                for _ in 0..<2 { try await cache.store([2], url) }
                #expect(cache.entryCount == 1 && cache.failure == nil)
                let files = try cacheFiles(folder)
                #expect(files.count == 1)
                withExtendedLifetime(shard) {}
            }
            // A process that another test starts can inherit the lock for a moment.
            for _ in 0..<1_000 where try await cache.stored(url) != [3] { try await cache.store([3], url) }
            #expect(try await cache.stored(url) == [3])
        }
    }

    /// The change that was interrupted has made the record of the shard invalid.
    @Test func sizeIsKnownWhileAShardStaysLocked() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            try await cache.store([1], url)
            let byteCount = cache.byteCount
            let shard = try lockedShard(cache)
            try Ledger(path: "\(folder)/v5/ledger").invalidate(EntryFolder.shard(of: try name()))
            #expect(cache.byteCount == byteCount && cache.entryCount == 1)
            #expect(throws: FileFailure(code: EAGAIN)) { try cache.storage.removeAll() }
            withExtendedLifetime(shard) {}
        }
    }
}
