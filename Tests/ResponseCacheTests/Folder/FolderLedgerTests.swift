import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ResponseCache

/// The size of a folder and the number of its entries are known without listing it, and right after any accident.
@Suite(.timeLimit(.minutes(5)))
struct FolderLedgerTests {
    private let url = "http://example.com/"
    private let time = ManualTime()

    /// Calls `check` with a folder of 20 entries, and the path of its ledger.
    private func withEntries(
        _ check: (_ folder: String, _ ledger: String, EntryFolder.Totals) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            for number in 0..<20 { try await cache.store([UInt8](repeating: 1, count: 10_000), url + "\(number)") }
            let totals = EntryFolder.Totals(bytes: 20 * 12_288, entries: 20)
            #expect(cache.byteCount == totals.bytes && cache.entryCount == totals.entries)
            try await check(folder, "\(folder)/v5/ledger", totals)
        }
    }

    private func totals(_ folder: String) throws -> EntryFolder.Totals {
        let cache = try ResponseCache.test(folder, time)
        return EntryFolder.Totals(bytes: cache.byteCount, entries: cache.entryCount)
    }

    @Test func openedCacheKnowsItsTotalsFromTheLedger() async throws {
        try await withEntries { (folder, _, expected) async throws in #expect(try totals(folder) == expected) }
    }

    @Test func replacedEntryIsCountedOnce() async throws {
        try await withEntries { folder, _, expected in
            let cache = try ResponseCache.test(folder, time)
            for count in [1, 100_000, 10_000] {
                try await cache.store([UInt8](repeating: 2, count: count), url + "7")
                let space = expected.bytes - 12_288 + EntryFolder.Status.space(of: count + 500)
                #expect(cache.byteCount == space && cache.entryCount == expected.entries)
            }
        }
    }

    @Test func aLostLedgerIsMadeAgain() async throws {
        try await withEntries { folder, ledger, expected in
            try FileManager.default.removeItem(atPath: ledger)
            #expect(try totals(folder) == expected)
            #expect(FileManager.default.fileExists(atPath: ledger))
        }
    }

    @Test(arguments: [0, 1, 100, 4_095]) func truncatedLedgerIsCompleted(length: Int) async throws {
        try await withEntries { folder, ledger, expected in
            let whole = try Data(contentsOf: URL(fileURLWithPath: ledger))
            try whole.prefix(length).write(to: URL(fileURLWithPath: ledger))
            #expect(try totals(folder) == expected)
        }
    }

    @Test func changedLedgerBytesAreDetected() async throws {
        try await withEntries { folder, ledger, expected in
            let whole = try Data(contentsOf: URL(fileURLWithPath: ledger))
            for offset in 0..<16 {
                var damaged = whole
                for index in stride(from: offset, to: whole.count, by: 16) { damaged[index] ^= 0x41 }
                try damaged.write(to: URL(fileURLWithPath: ledger))
                #expect(try totals(folder) == expected, "byte \(offset)")
            }
        }
    }

    /// A process was killed while it changed the shard.
    @Test func shardWithAnInterruptedChangeIsCountedAgain() async throws {
        try await withEntries { folder, ledger, expected in
            let entry = try #require(try cacheFiles(folder).first)
            let shard = try #require(Int(entry.split(separator: "/")[1], radix: 16))
            let size = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(entry)")).count
            try FileManager.default.removeItem(atPath: "\(folder)/\(entry)")
            var records = try Data(contentsOf: URL(fileURLWithPath: ledger))
            for index in shard * 16..<shard * 16 + 16 { records[index] = 0 }
            try records.write(to: URL(fileURLWithPath: ledger))
            let left = EntryFolder.Totals(
                bytes: expected.bytes - EntryFolder.Status.space(of: size), entries: expected.entries - 1)
            #expect(try totals(folder) == left)
        }
    }

    /// Of 256 such records, the sum would overflow.
    @Test func recordsOfImpossibleSizesAreInvalid() async throws {
        try await withEntries { folder, ledger, expected in
            let (space, entries): (Int, UInt32) = (1 << 55, 1)
            var records: [UInt8] = []
            for shard in 0..<EntryFolder.shardCount {
                records.append(space)
                records.append(entries)
                records.append(Ledger.checksum(shard, space, entries))
            }
            try Data(records).write(to: URL(fileURLWithPath: ledger))
            #expect(try totals(folder) == expected)
        }
    }

    @Test func nothingIsLeftInTheLedgerAfterAllEntriesAreRemoved() async throws {
        try await withEntries { folder, _, _ in
            let entry = try #require(try cacheFiles(folder).first)
            try FileManager.default.removeItem(atPath: "\(folder)/\(entry)")
            let cache = try ResponseCache.test(folder, time)
            try await cache.removeAll()
            #expect(try totals(folder) == EntryFolder.Totals())
        }
    }

    /// Sums of such sizes could overflow.
    @Test func sparseFileCountsWithAMaximumSize() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder + "/aa", withIntermediateDirectories: true)
            let entry = ShardFile.entry(ResponseStorageKey(resource: String(repeating: "a", count: 32)))
            let path = "\(folder)/\(entry.path)"
            try Data().write(to: URL(fileURLWithPath: path))
            try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: 1 << 42)
            let status = try #require(EntryFolder.Status(of: entry, in: OpenFolder(path: folder)))
            #expect(status.size == EntryFolder.Status.maximumSize)
        }
    }

    /// The ledger tells which shards have no lists of variants and no parts of bodies; a truncated one tells less.
    @Test(arguments: [0, 8, 4_096]) func variantIsFoundWithATruncatedLedger(length: Int) async throws {
        try await withEntries { folder, ledger, _ in
            let (body, request): ([UInt8], HTTPFields) = ([1, 2, 3], [.accept: "image/png"])
            try await ResponseCache.test(folder, time)
                .store(body, url, [.cacheControl: "max-age=60", .vary: "Accept"], to: request)
            let whole = try Data(contentsOf: URL(fileURLWithPath: ledger))
            try whole.prefix(length).write(to: URL(fileURLWithPath: ledger))
            let cache = try ResponseCache.test(folder, time)
            #expect(try await cache.stored(url, to: request) == body)
            #expect(try await cache.stored(url, to: [.accept: "image/jpeg"]) == nil)
            await cache.remove(url)
            #expect(try await cache.stored(url, to: request) == nil)
        }
    }

    @Test func variantIsFoundInAFolderThatAnotherProcessCreatedAgain() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            try await cache.store([1], url)
            try FileManager.default.removeItem(atPath: folder)
            try await ResponseCache.test(folder, time)
                .store([2], url, [.cacheControl: "max-age=60", .vary: "Accept"], to: [.accept: "image/png"])
            #expect(try await cache.stored(url, to: [.accept: "image/png"]) == [2])
            try await cache.store([3], url + "3")
            #expect(cache.entryCount == 2)
        }
    }

    @Test func allEntriesAreListedWithTheirHeads() async throws {
        try await withEntries { folder, _, expected in
            let cache = try ResponseCache.test(folder, time)
            let urls = Tally()
            await cache.removeAll { [url] entry in
                if entry.url.hasPrefix(url), entry.bodyByteCount == 10_000, entry.byteCount == 12_288 { urls.add() }
                return entry.url.hasSuffix("7")
            }
            #expect(urls.count == expected.entries)
            #expect(cache.entryCount == 18)
            #expect(try await cache.stored(url + "7") == nil)
            #expect(try await cache.stored(url + "8") != nil)
        }
    }
}
