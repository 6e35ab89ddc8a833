import AsyncWebImage
import Foundation
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

/// The built command with `batch --robots-txt`.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(3))
)
struct BatchRobotsTests {
    typealias Response = LoopbackOrigin.Response

    /// Runs `body` with an origin of images that has this robots.txt; `nil` for none.
    private func withRobots(_ robots: Response?, _ body: (LoopbackOrigin) async throws -> Void) async throws {
        let file = try #require(testPhotograph).encoded(as: .jpeg)
        try await withLoopbackOrigin { origin in
            for path in ["/ok/*", "/private/*"] { origin.route(path, Response(body: file)) }
            if let robots { origin.route("/robots.txt", robots) }
            try await body(origin)
        }
    }

    private func text(_ text: String) -> Response { Response(body: Array(text.utf8)) }

    private func frames(
        _ origin: LoopbackOrigin, _ paths: [String], _ options: String...,
        whileRunning: (Command) async throws -> Void = { _ in }
    ) async throws -> [BatchFrames.Frame] {
        let result = try await Command.run(
            ["batch", "--input", "-", "--output", "-", "--ordered", "--robots-txt", "--max-pixel-size", "8"] + options,
            input: paths.map { origin.url($0) }.joined(separator: "\n"), whileRunning: whileRunning)
        return try BatchFrames(result.outputBytes).frames
    }

    @Test func disallowedImagesAreNotRequested() async throws {
        let robots = text("User-agent: *\nDisallow: /private/\n\nUser-agent: mybot\nDisallow: /*?big\n")
        try await withRobots(robots) { origin in
            let paths = ["/ok/1", "/private/1", "/ok/2?big", "/private/2"]
            let frames = try await frames(origin, paths)
            #expect(frames.map(\.code) == [nil, "robots_txt", nil, "robots_txt"])
            #expect(frames[1].object["retryable"] as? Bool == false)
            #expect(frames[1].status == "failed_to_download")
            #expect(frames[1].object["attempts"] is NSNull)
            #expect(origin.counts.requests["/private/1"] == nil)
            // Another product token has other rules.
            let named = try await self.frames(origin, paths, "--user-agent-token", "MyBot")
            #expect(named.map(\.code) == [nil, nil, "robots_txt", nil])
        }
    }

    @Test func allLinesOfAnOriginShareOneRequest() async throws {
        try await withRobots(text("User-agent: *\nDisallow: /private/")) { origin in
            let paths = (0..<200).map { $0 % 2 == 0 ? "/ok/\($0)" : "/private/\($0)" }
            let frames = try await frames(origin, paths)
            #expect(frames.count == 200)
            #expect(frames.filter { $0.code == nil }.count == 100)
            #expect(origin.counts.requests["/robots.txt"] == 1)
            #expect(origin.counts.totalRequests == 101)
        }
    }

    @Test func robotsTextIsNotRequestedByDefault() async throws {
        try await withRobots(text("User-agent: *\nDisallow: /")) { origin in
            let result = try await Command.run(
                ["batch", "--input", "-", "--output", "-"], input: origin.url("/ok/1"))
            #expect(try BatchFrames(result.outputBytes).frames.map(\.code) == [nil])
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test(arguments: [nil, 401, 403, 410])
    func hostsWithoutRobotsTextAllowEverything(status: Int?) async throws {
        try await withRobots(status.map { Response(status: $0) }) { origin in
            let codes = try await frames(origin, ["/ok/1"], "--retries", "0").map(\.code)
            #expect(codes == [nil])
        }
    }

    @Test(arguments: [429, 503])
    func hostsThatCannotGiveRobotsTextDisallowEverything(status: Int) async throws {
        try await withRobots(Response(status: status)) { origin in
            let frames = try await frames(origin, ["/ok/1", "/ok/2"], "--retries", "0")
            #expect(frames.map(\.code) == ["robots_txt", "robots_txt"])
            #expect(frames.allSatisfy { $0.object["retryable"] as? Bool == true })
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test func linesOfUnreachableHostsKeepTheirErrorCode() async throws {
        let result = try await Command.run(
            ["batch", "--input", "-", "--output", "-", "--ordered", "--robots-txt", "--retries", "0"],
            input: "http://127.0.0.1:1/a.jpg\nftp://127.0.0.1/\nhttp://nowhere.invalid/a.jpg")
        let frames = try BatchFrames(result.outputBytes).frames
        #expect(frames.count == 3)
        #expect(frames[0].code == "connection_failed")
        #expect(frames[1].code == "invalid_url")
        #expect(["host_not_found", "dns_temporary"].contains(frames[2].code))
    }

    @Test func publicOnlyAppliesToRobotsTextAsWell() async throws {
        try await withRobots(text("")) { origin in
            let codes = try await frames(origin, ["/ok/1"], "--public-only").map(\.code)
            #expect(codes == ["policy"])
            #expect(origin.counts.totalRequests == 0)
        }
    }

    @Test func upToFiveRedirectsToRobotsTextAreFollowed() async throws {
        let rules = text("User-agent: *\nDisallow: /")
        for (count, code) in [(5, "robots_txt"), (6, nil)] {
            try await withRobots(.redirect(to: "/r/1")) { origin in
                for number in 1..<count { origin.route("/r/\(number)", .redirect(to: "/r/\(number + 1)")) }
                origin.route("/r/\(count)", rules)
                let codes = try await frames(origin, ["/ok/1"]).map(\.code)
                #expect(codes == [code])
            }
        }
    }

    @Test func xRobotsTagOfRobotsTextHasNoMeaning() async throws {
        let robots = Response(
            headerFields: ["X-Robots-Tag": "noindex"], body: Array("User-agent: *\nDisallow: /private".utf8))
        try await withRobots(robots) { origin in
            let codes = try await frames(origin, ["/ok/1", "/private/1"]).map(\.code)
            #expect(codes == [nil, "robots_txt"])
        }
    }

    @Test func xRobotsTagBehindARedirectOfRobotsTextHasNoMeaning() async throws {
        try await withRobots(.redirect(to: "/rules.txt")) { origin in
            let body = Array("User-agent: *\nDisallow: /private".utf8)
            origin.route("/rules.txt", Response(headerFields: ["X-Robots-Tag": "noindex"], body: body))
            let codes = try await frames(origin, ["/ok/1", "/private/1"]).map(\.code)
            #expect(codes == [nil, "robots_txt"])
        }
    }

    @Test func linesThatWaitForRobotsTextOccupyNoTransfer() async throws {
        let gate = Gate()
        try await withRobots(text("").held(at: .start, until: gate)) { slow in
            try await withRobots(text("")) { origin in
                let list = (0..<20).map { slow.url("/ok/\($0)") } + (0..<20).map { origin.url("/ok/\($0)") }
                let result = try await Command.run(
                    ["batch", "--input", "-", "--output", "-", "--robots-txt", "--concurrency", "2"],
                    input: list.joined(separator: "\n")
                ) { _ in
                    await origin.counts { $0.totalRequests == 21 }
                    #expect(slow.counts.totalRequests <= 1)
                    gate.open()
                }
                #expect(try BatchFrames(result.outputBytes).frames.map(\.code) == [String?](repeating: nil, count: 40))
            }
        }
    }

    @Test func anInterruptionEndsTheWaitForRobotsText() async throws {
        try await withRobots(text("").stalled(at: .start)) { origin in
            let frames = try await frames(origin, ["/ok/1", "/ok/2"], "--grace", "0") { command in
                await origin.requests(to: "/robots.txt", reach: 1)
                command.interrupt()
            }
            #expect(frames.map(\.code) == ["cancelled", "cancelled"])
        }
    }
}
