import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ResponseCache

/// The treatment of files in a folder that are not complete entries.
@Suite(.timeLimit(.minutes(5)))
struct FolderFilesTests {
    private let url = "http://example.com/a"
    private let time = ManualTime()

    private func write(_ path: String) throws { try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path)) }

    // MARK: Temporary files

    @Test func openingAFolderRemovesFilesOfEndedProcesses() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            await cache.flush()
            // Nobody has locked it.
            try write("\(folder)/v5/tmp/1f2e3d4c5b6a7988-12")
            let writing = try #require(try cache.testFolder?.create())
            await (try ResponseCache.test(folder, time)).flush()
            #expect(try cacheFiles(folder) == ["v5/\(writing.path)"])
        }
    }

    @Test func removingAllResponsesRemovesTemporaryFiles() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            try await cache.store([1], url)
            let writing = try #require(try cache.testFolder?.create())
            try await cache.removeAll()
            #expect(try cacheFiles(folder) == [])
            #expect(!writing.file.hasName && cache.byteCount == 0 && cache.entryCount == 0)
        }
    }

    /// Many caches are opened while one stores.
    @Test func openingAFolderKeepsFilesBeingWritten() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            for number in 0..<100 {
                let other = try ResponseCache.test(folder, time)
                try await cache.store([1], url + "\(number)")
                await other.flush()
            }
            #expect(try cacheFiles(folder).count == 100)
            #expect(cache.failure == nil)
            #expect(cache.entryCount == 100)
        }
    }

    // MARK: Files of others

    /// Neither when the folder is opened nor when all responses are removed.
    @Test func filesWithOtherNamesRemain() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            try await cache.store([1], url)
            let shard = try #require(try cacheFiles(folder).first).dropLast(33)
            let entry = String(repeating: "0", count: 32) + "-" + String(repeating: "a", count: 16)
            var others = ["abc", ".hidden", "1-", "-1", "1-2-3", "1f-2.part", "x-1"].map { "v5/tmp/\($0)" }
            others += [
                "\(shard)/\(shard.suffix(2))-notes", "\(shard)/photo.jpg", "v5/notes", entry, "new-12-0123456789abcdef",
            ]
            for name in others { try write("\(folder)/\(name)") }
            let next = try ResponseCache.test(folder, time)
            try await next.removeAll()
            #expect(Set(try cacheFiles(folder)) == Set(others))
            #expect(next.byteCount == 0 && next.entryCount == 0)
        }
    }

    // MARK: Other files

    @Test func pipeInPlaceOfAnEntryIsRemovedWithoutWaitingForAWriter() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            try await cache.store([1], url)
            let path = "\(folder)/" + (try #require(try cacheFiles(folder).first))
            try FileManager.default.removeItem(atPath: path)
            try #require(mkfifo(path, 0o600) == 0)
            #expect(try await cache.stored(url) == nil)
            #expect(!FileManager.default.fileExists(atPath: path))
            try await cache.store([2], url)
            #expect(try await cache.stored(url) == [2])
        }
    }

    // MARK: Removal

    @Test func removalThatFailsReportsTheCause() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            try await cache.store([1], url)
            let key = try #require(try (0..<256).flatMap(cache.storage.keys).first)
            // No change can be recorded.
            try FileManager.default.removeItem(atPath: "\(folder)/v5/ledger")
            try FileManager.default.createDirectory(atPath: "\(folder)/v5/ledger", withIntermediateDirectories: false)
            #expect(throws: FileFailure(code: EISDIR)) { try cache.storage.remove(key) }
            #expect(await cache.removeAll { _ in true } == 0)
            #expect(try await cache.stored(url) == [1])
        }
    }

    // MARK: Variants

    private func store(_ cache: ResponseCache, _ variant: Int) async throws {
        try await cache.store(
            [UInt8(variant)], url, [.cacheControl: "max-age=60", .vary: "Accept"], to: [.accept: "image/\(variant)"])
    }

    private func variants(_ cache: ResponseCache) async throws -> [Int] {
        var found: [Int] = []
        for variant in 0..<12 where try await cache.stored(url, to: [.accept: "image/\(variant)"]) != nil {
            found.append(variant)
        }
        return found
    }

    @Test(arguments: TestStorage.allCases) func cacheKeepsEightVariantsOfAURL(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            for variant in 0..<10 { try await store(cache, variant) }
            #expect(try await variants(cache) == Array(2..<10))
            #expect(cache.entryCount == 8)
        }
    }

    @Test func anotherProcessFindsVariantsStoredWhileItRuns() async throws {
        try await withTemporaryFolder { folder in
            let (first, second) = (try ResponseCache.test(folder, time), try ResponseCache.test(folder, time))
            for variant in 0..<3 { try await store(first, variant) }
            #expect(try await variants(second) == [0, 1, 2])
            try await store(second, 5)
            #expect(try await variants(first) == [0, 1, 2, 5])
            await second.remove(url)
            #expect(try await variants(first) == [])
            #expect(try cacheFiles(folder) == [] && first.byteCount == 0)
        }
    }
}
