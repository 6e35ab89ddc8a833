import AsyncWebImage
import Foundation
import TestSupport
import Testing

/// `webimage cache`, on a folder that a program has filled.
@Suite(.timeLimit(.minutes(2)))
struct CacheCommandTests {
    private let fresh = HTTPResponse(
        status: .ok, headerFields: [.cacheControl: "max-age=86400", .contentType: "image/png", .eTag: "\"1\""])
    private let stale = HTTPResponse(status: .ok, headerFields: [.eTag: "\"1\""])

    /// Runs `body` with the folder of a cache with a fresh response for `/a` and a stale one for `/b`.
    private func withCache(_ body: (String, ResponseCache) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache(.init(directory: folder + "/cache"))
            await cache.store([UInt8](repeating: 1, count: 5_000), fresh, for: "http://example.com/a")
            await cache.store([UInt8](repeating: 2, count: 5_000), stale, for: "http://example.com/b")
            try await body(folder + "/cache", cache)
        }
    }

    @Test func cacheInfoPrintsNumbersAndSizes() async throws {
        try await withCache { folder, _ in
            let text = try await Command.run(["cache", "info", folder])
            #expect(text.status == 0 && text.errors.isEmpty)
            #expect(text.output.contains("2 (1 fresh, 1 stale), 0 partial"))
            let json = try await Command.run(["cache", "info", "--json", folder])
            #expect(
                json.output.hasPrefix(#"{"complete":2,"fresh":1,"partial":0,"results":0,"body_bytes":10000,"bytes":"#))
            #expect(json.output.hasSuffix(#","damaged":0,"unreadable":0,"unlisted_folders":0}"# + "\n"))
        }
    }

    @Test func cacheListPrintsALineForEachResponse() async throws {
        try await withCache { folder, _ in
            let text = try await Command.run(["cache", "list", folder])
            let lines = text.output.split(separator: "\n").sorted { $0.suffix(1) < $1.suffix(1) }
            #expect(lines.count == 2)
            #expect(lines.first?.hasPrefix("200      5 kB  ") == true)
            #expect(lines.first?.contains("fresh 23 h") == true || lines.first?.contains("fresh 24 h") == true)
            #expect(lines.last?.hasSuffix("stale  http://example.com/b") == true)
            let json = try await Command.run(["cache", "list", "--json", folder])
            for line in json.output.split(separator: "\n") {
                let object = try #require(
                    try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
                #expect(object["status"] as? Int == 200 && object["body_bytes"] as? Int == 5_000)
                #expect((object["url"] as? String)?.hasPrefix("http://example.com/") == true)
            }
        }
    }

    @Test func cacheRemoveRemovesResponsesOfGivenURLs() async throws {
        try await withCache { folder, cache in
            let result = try await Command.run(["cache", "remove", folder, "http://EXAMPLE.com/a"])
            #expect(result.status == 0)
            #expect(await !cache.contains("http://example.com/a"))
            #expect(await cache.contains("http://example.com/b"))
            let missing = try await Command.run(["cache", "remove", folder, "http://example.com/a"])
            #expect(missing.status == 1 && missing.errors.contains("not in the cache"))
        }
    }

    @Test func cacheClearRemovesAllOrOnlyExpiredResponses() async throws {
        try await withCache { folder, cache in
            let expired = try await Command.run(["cache", "clear", "--expired", folder])
            #expect(expired.output.hasPrefix("removed 1 response, "))
            #expect(await cache.contains("http://example.com/a"))
            let all = try await Command.run(["cache", "clear", folder])
            #expect(all.output.hasPrefix("removed 1 response, "))
            #expect(cache.entryCount == 0)
        }
    }

    @Test func cacheClearKeepsTheMostRecentlyUsedResponses() async throws {
        try await withCache { folder, cache in
            let kept = try await Command.run(["cache", "clear", "--keep", "1", folder])
            #expect(kept.output.hasPrefix("removed 0 responses, 0 B"))
            let none = try await Command.run(["cache", "clear", "--keep", "0", folder])
            #expect(none.output.hasPrefix("removed 2 responses, "))
            #expect(cache.entryCount == 0)
        }
    }

    @Test func cacheVerifyFailsIfAResponseWasDamaged() async throws {
        try await withCache { folder, cache in
            let intact = try await Command.run(["cache", "verify", folder])
            #expect(intact.status == 0 && intact.output == "2 intact, 0 damaged\n")
            let file = try #require(try cacheFiles(folder).first)
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: "\(folder)/\(file)"))
            let end = try handle.seekToEnd()
            try handle.seek(toOffset: end - 1)
            try handle.write(contentsOf: [0xFF])
            try handle.close()
            let damaged = try await Command.run(["cache", "verify", folder])
            #expect(damaged.status == 1 && damaged.output == "1 intact, 1 damaged\n")
            // It is removed when it is needed.
            #expect(cache.entryCount == 2)
        }
    }

    @Test func cacheVerifyFailsIfAResponseCannotBeRead() async throws {
        try await withCache { folder, _ in
            let file = "\(folder)/\(try #require(try cacheFiles(folder).first))"
            try FileManager.default.removeItem(atPath: file)
            // Links are not followed.
            try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "/dev/null")
            let result = try await Command.run(["cache", "verify", folder])
            #expect(result.status == 1)
            #expect(result.output == "1 intact, 0 damaged, 1 unreadable\n")
        }
    }

    /// The first command reports a failing disk, whichever it is.
    @Test func commandsThatInspectACacheReportDamageAndKeepIt() async throws {
        try await withCache { folder, cache in
            let file = try #require(try cacheFiles(folder).first)
            try Data([1, 2, 3]).write(to: URL(fileURLWithPath: "\(folder)/\(file)"))
            let info = try await Command.run(["cache", "info", folder])
            #expect(info.status == 0 && info.output.contains(" 0 partial, 1 damaged\n"))
            let list = try await Command.run(["cache", "list", folder])
            #expect(list.status == 1 && list.output.split(separator: "\n").count == 1)
            #expect(list.errors == "webimage: \(folder): 1 response is damaged\n")
            let verify = try await Command.run(["cache", "verify", folder])
            #expect(verify.status == 1 && verify.output == "1 intact, 1 damaged\n")
            #expect(cache.entryCount == 2)
        }
    }

    @Test(arguments: ["info", "list", "verify"])
    func foldersThatCannotBeListedAreReportedAndTheOthersRead(command: String) async throws {
        try await withCache { folder, _ in
            let shard = "\(folder)/\(try #require(try cacheFiles(folder).first).dropLast(33))"
            try FileManager.default.removeItem(atPath: shard)
            try Data([1]).write(to: URL(fileURLWithPath: shard))
            let result = try await Command.run(["cache", command, folder])
            #expect(result.status == 1)
            #expect(result.errors.hasPrefix("webimage: \(folder): 1 of its folders cannot be listed: "))
            #expect(
                result.output.hasPrefix(command == "info" ? "responses  1 (" : command == "list" ? "200 " : "1 intact"))
        }
    }

    @Test(arguments: [["--expired"], ["--keep", "0"], []])
    func clearFailsIfNothingCanBeRemoved(options: [String]) async throws {
        try await withCache { folder, cache in
            // No change can be recorded.
            try FileManager.default.removeItem(atPath: "\(folder)/v5/ledger")
            try FileManager.default.createDirectory(atPath: "\(folder)/v5/ledger", withIntermediateDirectories: false)
            let result = try await Command.run(["cache", "clear"] + options + [folder])
            #expect(result.status == 1 && result.output.isEmpty)
            #expect(result.errors.hasPrefix("webimage: cannot remove "))
            #expect(result.errors.hasSuffix(" in \(folder): Is a directory\n"))
            #expect(cache.entryCount == 2)
        }
    }

    @Test func folderThatOthersCanChangeIsRefused() async throws {
        try await withCache { folder, _ in
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder)
            let info = try await Command.run(["cache", "info", folder])
            #expect(
                info.status == 1 && info.errors.contains("there is no usable cache in \(folder): other users can write")
            )
            let get = try await Command.run(["get", "--cache", folder, "http://127.0.0.1:9/a"])
            #expect(get.status == 1 && get.errors.contains("cannot use the folder \(folder) as a cache: other users"))
        }
    }

    @Test func folderWithoutACacheIsAnErrorAndIsNotChanged() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let empty = try await Command.run(["cache", "info", folder])
            #expect(empty.status == 1)
            #expect(empty.errors == "webimage: there is no cache in \(folder); pass the folder of --cache\n")
            let path = folder + "/missing"
            let missing = try await Command.run(["cache", "info", path])
            #expect(missing.status == 1)
            #expect(
                missing.errors.hasPrefix("webimage: there is no usable cache in \(path): No such file or directory"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        }
    }

    @Test func sizeLimitOfGetRequiresACache() async throws {
        let result = try await Command.run(["get", "--cache-limit", "5", "http://127.0.0.1:9/a"])
        #expect(result.status == 64 && result.errors.contains("--cache-limit requires --cache"))
    }
}
