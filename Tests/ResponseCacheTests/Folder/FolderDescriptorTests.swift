import TestSupport
import Testing
import Threading

@testable import ResponseCache

/// A folder in a process of its own whose file descriptors run out.
@Suite(.timeLimit(.minutes(1)))
struct FolderDescriptorTests {
    /// The response cannot be replaced, and would be used although it is outdated.
    @Test func outdatedResponseIsRemovedWithoutAFileDescriptor() async {
        await #expect(processExitsWith: .success) {
            try await withTemporaryFolder { folder in
                let url = "http://example.com/a"
                let cache = try ResponseCache.test(folder, ManualTime())
                try await cache.store([1], url)
                let limit = OpenFileLimit.current
                OpenFileLimit.set(0)
                try await cache.store([2], url)
                OpenFileLimit.set(limit)
                #expect(try await cache.stored(url) == nil)
                #expect(cache.byteCount == 0 && cache.entryCount == 0 && cache.failure == nil)
                try await cache.store([3], url)
                #expect(try await cache.stored(url) == [3])
                #expect(cache.entryCount == 1)
            }
        }
    }

    @Test func entryThatDoesNotExistIsKnownToBeMissingWithoutAFileDescriptor() async {
        await #expect(processExitsWith: .success) {
            try await withTemporaryFolder { folder in
                let cache = try ResponseCache.test(folder, ManualTime())
                try await cache.store([1], "http://example.com/a")
                let stored = try #require(try (0..<256).flatMap(cache.storage.keys).first)
                let missing = ResponseStorageKey(resource: String(repeating: "0", count: 32))
                let limit = OpenFileLimit.current
                OpenFileLimit.set(0)
                #expect(throws: FileFailure.self) { try cache.storage.entry(stored) }
                let entry = try cache.storage.entry(missing)
                OpenFileLimit.set(limit)
                #expect(entry == nil)
            }
        }
    }
}
