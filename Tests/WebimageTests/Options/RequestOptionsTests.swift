import ArgumentParser
import AsyncWebImage
import HTTPTransport
import LoopbackOrigin
import Testing

@testable import webimage

@Suite(.timeLimit(.minutes(1)))
struct RequestOptionsTests {
    @Test func requestOptionsConfigureDownloads() throws {
        let plain = try RequestOptions.parse([]).downloads
        #expect((plain.retry as? ExponentialBackoff)?.maximumAttempts == 3)
        #expect(plain.deadlines == Deadlines())
        let given = try RequestOptions.parse(
            ["--retries", "0", "--timeout", "2.5", "--header", "Accept: image/png", "--header", "X-Team:a:b"]
        ).downloads
        #expect(given.retry == nil)
        let short = Duration.milliseconds(2_500)
        #expect(
            given.deadlines
                == Deadlines(lookup: short, connect: short, firstByte: short, idle: short, total: .seconds(600)))
        #expect(given.headerFields[.accept] == "image/png")
        #expect(given.headerFields.contains { $0.name.rawName == "X-Team" && $0.value == "a:b" })
        #expect(given.redirectPolicy == RedirectPolicy())
        let strict = try RequestOptions.parse(["--no-insecure-redirects"]).downloads
        #expect(strict.redirectPolicy == RedirectPolicy(insecureRedirects: .refused))
        #expect(try RequestOptions.parse(["--deadline", "0.5"]).downloads.deadlines.total == .milliseconds(500))
        let long = try RequestOptions.parse(["--timeout", "1000"]).downloads.deadlines
        #expect(long == Deadlines(firstByte: .seconds(1_000), idle: .seconds(1_000), total: .seconds(1_000)))
    }

    @Test(arguments: [
        ["--retries", "-1"], ["--retries", "many"], ["--timeout", "0"], ["--timeout", "nan"], ["--header", "no colon"],
        ["--header", "two words: a"], ["--header", "A: b\nC: d"],
        ["--header", "Host: example.org"], ["--header", "content-length: 5"],
        ["--header", "Transfer-Encoding: chunked"],
    ])
    func invalidRequestOptionsAreRejected(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try RequestOptions.parse(arguments) }
    }

    @Test(arguments: [["get", "-o", "/tmp"], ["info"]])
    func retriesAndHeaderFieldsAreApplied(command: [String]) async throws {
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a.png", .init(status: 503, headerFields: ["Retry-After": "0"]))
            let result = try await Command.run(
                command + ["--retries", "3", "--header", "X-Team: blue", origin.url("/a.png")])
            #expect(result.status == 1)
            #expect(origin.recordedRequests.map { $0.headerFields["X-Team"] } == ["blue", "blue", "blue", "blue"])
        }
    }

    @Test func fieldsThatMayBeSecretsDoNotFollowToOtherOrigins() async throws {
        try await withLoopbackOrigin { (other) async throws in
            try await withLoopbackOrigin { (origin) async throws in
                origin.route("/a.png", .redirect(to: other.url("/b.png")))
                _ = try await Command.run(
                    ["info", "--retries", "0", "--header", "X-Api-Key: s", "--header", "Proxy-Authorization: Basic s"]
                        + ["--header", "Accept: image/png", origin.url("/a.png")])
                let names = ["X-Api-Key", "Proxy-Authorization", "Accept"]
                #expect(
                    origin.recordedRequests.map { request in names.map { request.headerFields[$0] } } == [
                        ["s", "Basic s", "image/png"]
                    ])
                #expect(
                    other.recordedRequests.map { request in names.map { request.headerFields[$0] } } == [
                        [nil, nil, "image/png"]
                    ])
            }
        }
    }

    @Test func errorOfUnusableCacheNamesItsFolder() async throws {
        let result = try await Command.run(["get", "--cache", "/proc/nowhere", "http://127.0.0.1:1/a.png"])
        #expect(result.status == 1)
        #expect(result.errors.contains("cannot use the folder /proc/nowhere as a cache"))
    }
}
