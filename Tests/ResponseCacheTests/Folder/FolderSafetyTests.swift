import Foundation
import TestSupport
import Testing

@testable import ResponseCache

/// Nothing outside the folder of a cache is changed, and nobody else can decide what is in it.
@Suite(.timeLimit(.minutes(1)))
struct FolderSafetyTests {
    private let url = "http://example.com/a"
    private let time = ManualTime()
    private let files = FileManager.default

    private func makeFolder(_ path: String, mode: Int = 0o700) throws {
        try files.createDirectory(atPath: path, withIntermediateDirectories: true)
        // Whatever the mask of the process is.
        try files.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    private func reason(_ folder: String) -> String? {
        do {
            _ = try ResponseCache.test(folder, time)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Makes a folder with files that look like those of a cache, and returns its path and their names.
    private func victim(in folder: String) throws -> (path: String, names: [String]) {
        let path = folder + "/victim"
        try makeFolder(path)
        let entry = String(repeating: "0", count: 32) + "-" + String(repeating: "a", count: 16)
        let names = [".hidden", entry, "1f2e3d4c5b6a7988-12", "precious.txt"]
        for name in names { try Data([1]).write(to: URL(fileURLWithPath: "\(path)/\(name)")) }
        return (path, names)
    }

    @Test(arguments: ["v5", "v5/tmp"])
    func cacheWithALinkInPlaceOfAFolderIsRefused(link: String) async throws {
        try await withTemporaryFolder { folder in
            let victim = try victim(in: folder)
            try makeFolder(folder + "/cache/v5")
            if link == "v5" { try files.removeItem(atPath: folder + "/cache/v5") }
            try files.createSymbolicLink(atPath: "\(folder)/cache/\(link)", withDestinationPath: victim.path)
            let name = link.split(separator: "/").last ?? ""
            #expect(reason(folder + "/cache") == "\(name) in it is not a folder, or is a symbolic link")
            #expect(try files.contentsOfDirectory(atPath: victim.path).sorted() == victim.names)
        }
    }

    /// It appears while the cache is used.
    @Test(arguments: ["v5", "v5/tmp"])
    func nothingIsStoredThroughALink(link: String) async throws {
        try await withTemporaryFolder { folder in
            let victim = try victim(in: folder)
            let cache = try ResponseCache.test(folder + "/cache", time)
            try await cache.store([1], url)
            try files.moveItem(atPath: "\(folder)/cache/\(link)", toPath: folder + "/moved")
            try files.createSymbolicLink(atPath: "\(folder)/cache/\(link)", withDestinationPath: victim.path)
            try await cache.store([2], url + "2")
            try await cache.removeAll()
            #expect(try files.contentsOfDirectory(atPath: victim.path).sorted() == victim.names)
            #expect(cache.failure != nil)
        }
    }

    @Test func aShardThatIsALinkIsNeitherReadNorChanged() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            try await cache.store([1], url)
            let shard = folder + "/" + (try #require(try cacheFiles(folder).first)).dropLast(33)
            try files.moveItem(atPath: shard, toPath: folder + "/moved")
            try files.createSymbolicLink(atPath: shard, withDestinationPath: folder + "/moved")
            #expect(try await cache.stored(url) == nil)
            try await cache.store([2], url)
            await cache.remove(url)
            try? await cache.removeAll()
            let name = try #require(try files.contentsOfDirectory(atPath: folder + "/moved").first)
            #expect(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/moved/\(name)")).last == 1)
            #expect(cache.failure.map { "\($0)" }?.hasSuffix("is not a folder, or is a symbolic link") == true)
        }
    }

    @Test(arguments: ["", "/v5", "/v5/tmp"], [0o770, 0o702, 0o1777])
    func folderThatOthersCanChangeIsRefused(path: String, mode: Int) async throws {
        try await withTemporaryFolder { folder in
            try makeFolder(folder + "/v5/tmp")
            try makeFolder(folder + path, mode: mode)
            #expect(reason(folder)?.hasPrefix("other users can write to") == true)
        }
    }

    @Test(.enabled(if: geteuid() == 0), arguments: ["", "/v5", "/v5/tmp"])
    func folderOfAnotherUserIsRefused(path: String) async throws {
        try await withTemporaryFolder { folder in
            try makeFolder(folder + "/v5/tmp")
            try files.setAttributes([.ownerAccountID: 65_534], ofItemAtPath: folder + path)
            #expect(reason(folder)?.hasSuffix("belongs to another user (65534)") == true)
        }
    }

    @Test func theFolderItselfCanBeALinkAndBeInAFolderThatOthersCanWrite() async throws {
        try await withTemporaryFolder { folder in
            try makeFolder(folder, mode: 0o1777)
            try makeFolder(folder + "/target")
            try files.createSymbolicLink(atPath: folder + "/link", withDestinationPath: folder + "/target")
            let cache = try ResponseCache.test(folder + "/link", time)
            try await cache.store([1], url)
            #expect(try await cache.stored(url) == [1])
            #expect(try cacheFiles(folder + "/target").count == 1)
        }
    }

    // MARK: Only reading

    /// The names, sizes, and times of all files and folders in a folder.
    private func snapshot(_ folder: String) throws -> [String] {
        try files.subpathsOfDirectory(atPath: folder).sorted().map { path in
            let attributes = try files.attributesOfItem(atPath: "\(folder)/\(path)")
            return "\(path) \(attributes[.size] ?? 0) \(attributes[.modificationDate] ?? 0)"
        }
    }

    private func readOnly(_ folder: String) throws -> ResponseCache {
        var configuration = ResponseCache.Configuration(directory: folder, createsDirectory: false)
        configuration.isReadOnly = true
        return try ResponseCache(configuration, now: { [time] in time.now })
    }

    @Test func cacheThatOnlyReadsChangesNothing() async throws {
        try await withTemporaryFolder { folder in
            do {
                let cache = try ResponseCache.test(folder, time)
                for number in 0..<3 { try await cache.store([1], url + "\(number)") }
            }
            let entry = "\(folder)/\(try #require(try cacheFiles(folder).first))"
            try Data([1, 2, 3]).write(to: URL(fileURLWithPath: entry))
            try Data([1]).write(to: URL(fileURLWithPath: folder + "/v5/tmp/1f2e3d4c5b6a7988-12"))
            try files.removeItem(atPath: folder + "/v5/ledger")
            let before = try snapshot(folder)
            let cache = try readOnly(folder)
            let (entries, faults) = (Tally(), Tally())
            await cache.forEachEntry { _ in
                entries.add()
                return true
            } onFault: { _ in
                faults.add()
            }
            #expect(entries.count == 2 && faults.count == 1 && cache.entryCount == 3)
            #expect(try await cache.verify() == (2, 1, 0))
            #expect(await cache.removeAll { _ in true } == 0)
            await cache.flush()
            #expect(try snapshot(folder) == before)
        }
    }

    @Test func cacheThatOnlyReadsDoesNotCompleteAnEmptyFolder() async throws {
        try await withTemporaryFolder { folder in
            try makeFolder(folder + "/v5")
            let cache = try readOnly(folder)
            #expect(cache.entryCount == 0)
            #expect(try await cache.verify() == (0, 0, 0))
            #expect(try files.subpathsOfDirectory(atPath: folder) == ["v5"])
        }
    }

    @Test func shardsThatCannotBeListedAreReportedAndTheOthersRead() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            for number in 0..<3 { try await cache.store([1], url + "\(number)") }
            let shard = folder + "/" + (try #require(try cacheFiles(folder).first)).dropLast(33)
            try files.removeItem(atPath: shard)
            try Data([1]).write(to: URL(fileURLWithPath: shard))
            let failures = Tally()
            #expect(await cache.verify { _ in failures.add() } == (2, 0, 0))
            #expect(failures.count == 1)
            await #expect(throws: FileFailure.self) { try await cache.verify() }
        }
    }
}
