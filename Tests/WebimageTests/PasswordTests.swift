import AsyncWebImage
import LoopbackOrigin
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PasswordTests {
    @Test(arguments: [["get", "-o", "/tmp"], ["get", "-o", "/tmp", "--json"], ["info"], ["info", "--json"]])
    func passwordsInURLsAreNotPrinted(command: [String]) async throws {
        try await withLoopbackOrigin { (origin) async throws in
            let host = "127.0.0.1:\(origin.port)"
            let urls = [
                "http://me:secret@\(host)/none@2x.png", "http://me:sec/ret@\(host):x/", "ftp://me:secret@\(host)/",
            ]
            let result = try await Command.run(command + ["--retries", "0"] + urls)
            #expect(result.status == 1)
            let text = result.output + result.errors
            #expect(text.contains("http://\(host)/none@2x.png"), "\(text)")
            #expect(!text.contains("me:") && !text.contains("sec") && !text.contains("ret@"), "\(text)")
            // Yet it is used.
            #expect(origin.recordedRequests.map { $0.headerFields["authorization"] } == ["Basic bWU6c2VjcmV0"])
        }
    }

    @Test func passwordsAndControlCharactersOfURLsToRemoveAreNotPrinted() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache(.init(directory: folder + "/cache"))
            await cache.store([1], HTTPResponse(status: .ok), for: "http://example.com/b")
            let urls = ["http://me:secret@example.com/a", "\u{1B}[2Ja\u{202E}"]
            let result = try await Command.run(["cache", "remove", folder + "/cache"] + urls)
            #expect(result.status == 1)
            #expect(
                result.errors
                    == "webimage: http://example.com/a: not in the cache\nwebimage: ?[2Ja?: not in the cache\n")
        }
    }

    @Test func passwordsInListsAreNotPrinted() async throws {
        try await withLoopbackOrigin { (origin) async throws in
            let url = "http://me:secret@127.0.0.1:\(origin.port)/none.png"
            let result = try await Command.run(
                ["get", "-o", "/tmp", "--json", "--retries", "0", "--input", "-"], input: url + "\n")
            #expect(result.status == 1)
            #expect(
                result.output.hasPrefix("{\"url\":\"http://127.0.0.1:\(origin.port)/none.png\","), "\(result.output)")
        }
    }
}
