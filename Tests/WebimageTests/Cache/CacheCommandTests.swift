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
            #expect(json.output.hasPrefix(#"{"complete":2,"fresh":1,"partial":0,"body_bytes":10000,"bytes":"#))
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
            #expect(intact.status == 0 && intact.output == "2 intact, 0 damaged and removed\n")
            let file = try #require(try cacheFiles(folder).first)
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: "\(folder)/\(file)"))
            let end = try handle.seekToEnd()
            try handle.seek(toOffset: end - 1)
            try handle.write(contentsOf: [0xFF])
            try handle.close()
            let damaged = try await Command.run(["cache", "verify", folder])
            #expect(damaged.status == 1 && damaged.output == "1 intact, 1 damaged and removed\n")
            #expect(cache.entryCount == 1)
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
            #expect(result.output == "1 intact, 0 damaged and removed, 1 unreadable\n")
        }
    }

    @Test func folderWithoutACacheIsAnErrorAndIsNotChanged() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for path in [folder, folder + "/missing"] {
                let result = try await Command.run(["cache", "info", path])
                #expect(result.status == 1)
                #expect(result.errors.hasPrefix("webimage: there is no cache in \(path): No such file or directory"))
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        }
    }

    @Test func sizeLimitOfGetRequiresACache() async throws {
        let result = try await Command.run(["get", "--cache-limit", "5", "http://127.0.0.1:9/a"])
        #expect(result.status == 64 && result.errors.contains("--cache-limit requires --cache"))
    }
}
