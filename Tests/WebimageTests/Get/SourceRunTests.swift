import ArgumentParser
import AsyncWebImage
import Foundation
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing
import Threading
import WebimageConsole

@testable import webimage

@Suite(.timeLimit(.minutes(2)))
struct SourceRunTests {
    typealias Response = LoopbackOrigin.Response

    /// A response after which a request is repeated, much later than any test ends.
    private let unavailable = Response(status: 503, headerFields: ["Retry-After": "60"])

    private func photograph() throws -> Response {
        Response(body: try #require(testPhotograph).encoded(as: .jpeg))
    }

    /// The sources of arguments, then those that `next` returns.
    private func sources(
        _ arguments: [ImageSource], _ next: @escaping @Sendable () async throws -> ImageSource?
    ) -> AsyncThrowingStream<ImageSource, any Error> {
        let rest = Locked(arguments[...])
        return AsyncThrowingStream {
            if let first = rest.withLock({ $0.popFirst() }) { return first }
            return try await next()
        }
    }

    /// Runs `body` with a run that processes two images at a time, and writes them with `calls`.
    ///
    /// The display has live lines if `output`, the stream for results, is set.
    private func withRun(
        calls: FileCalls = FileCalls(), output: Terminal? = nil, _ body: (SourceRun) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let command = try GetCommand.parse(["--input", "-"])
            let meter = TransferMeter(over: CurlTransport(configuration: CurlTransport.Configuration()))
            let loader = ImageLoader(configuration: try command.loaderConfiguration(concurrency: 2), transport: meter)
            let fetcher = ImageFetcher(
                loader: loader, meter: meter, output: ImageOutput(folder: try OutputFolder(path: folder, calls: calls)),
                plan: command.plan, workers: ThreadPool(count: 1))
            let display = ProgressDisplay(
                printsJSON: true, meter: meter, output: output ?? .output, progress: Terminal(descriptor: -1),
                isLive: output != nil)
            try await body(SourceRun(fetcher: fetcher, display: display, count: 2))
        }
    }

    @Test func noMoreSourcesAreReadWhileNoImageCouldBecomeActive() async throws {
        let gate = Gate()
        let file = try photograph()
        try await withLoopbackOrigin { origin in
            origin.route("/*", file.held(at: .start, until: gate))
            try await withRun { run in
                let read = Tally()
                let sources = sources([]) {
                    if read.count == 2 { await origin.counts { $0.totalRequests == 2 } }
                    guard read.count < 20 else { return nil }
                    read.add()
                    return ImageSource(listed: origin.url("/\(read.count)"))
                }
                async let end: Void = run.run(sources)
                await read.reaches(2 * LoadGroup.openElementsPerActive)
                #expect(await !read.reaches(2 * LoadGroup.openElementsPerActive + 1, within: .milliseconds(100)))
                #expect(origin.counts.totalRequests == 2)
                gate.open()
                try await end
                #expect(read.count == 20 && origin.counts.totalRequests == 20)
                #expect(origin.counts.maximumRunningRequests == 2)
            }
        }
    }

    @Test func onlyActiveImagesAreDisplayedAsRunning() async throws {
        let file = try photograph()
        try await withLoopbackOrigin { origin in
            origin.route("/dead/*", unavailable)
            origin.route("/live/*", file.stalled(at: .body(10)))
            let dead = (0..<3).map { ImageSource(listed: origin.url("/dead/\($0)")) }
            let live = Tally()
            try await withRun { run in
                let task = Task {
                    try await run.run(
                        sources(dead) {
                            // All dead images go first.
                            await origin.counts { $0.totalRequests >= 3 }
                            guard live.count < 4 else { return nil }
                            live.add()
                            return ImageSource(listed: origin.url("/live/\(live.count)"))
                        })
                }
                await origin.counts { counts in counts.requests.count { $0.key.hasPrefix("/live/") } == 2 }
                let running = await run.display.running
                #expect(running.count == 2 && running.allSatisfy { $0.contains("/live/") })
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                #expect(await run.display.running.isEmpty)
            }
        }
    }

    /// Returns the error of a run that gets an image and waits for the rest of its list until it is canceled.
    private func failureOfWaitingRun(
        calls: FileCalls = FileCalls(), output: Terminal? = nil
    ) async throws -> FileError? {
        let file = try photograph()
        var failure: FileError?
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/whole", file)
            origin.route("/stalled", file.stalled(at: .body(10)))
            try await withRun(calls: calls, output: output) { run in
                // The other image is canceled, which must not hide the failure.
                let sources = ["/stalled", "/whole"].map { ImageSource(listed: origin.url($0)) }
                failure = await #expect(throws: FileError.self) {
                    try await run.run(
                        self.sources(sources) {
                            await Tally().reaches(1)
                            return nil
                        })
                }
            }
        }
        return failure
    }

    @Test func fullDiskEndsARunThatWaitsForItsList() async throws {
        var calls = FileCalls()
        calls.write = { _, _ in -ENOSPC }
        #expect(try await failureOfWaitingRun(calls: calls)?.endsRun == true)
    }

    @Test func unwritableOutputOfLiveDisplayEndsARunThatWaitsForItsList() async throws {
        let full = open("/dev/full", O_WRONLY)
        try #require(full >= 0)
        defer { close(full) }
        #expect(try await failureOfWaitingRun(output: Terminal(descriptor: full))?.code == ENOSPC)
    }

    @Test func oneImageInManyLinesIsProcessedForEach() async throws {
        let file = try photograph()
        try await withLoopbackOrigin { origin in
            origin.route("/photo", file)
            try await withRun { run in
                try await run.run(
                    sources(Array(repeating: ImageSource(listed: origin.url("/photo")), count: 100)) { nil })
                #expect(await run.display.failed == 0)
                #expect(await run.display.running.isEmpty)
            }
        }
    }
}

/// The built command, whose images wait.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(3))
)
struct WaitingImageTests {
    typealias Response = LoopbackOrigin.Response

    private func photograph() throws -> Response {
        Response(body: try #require(testPhotograph).encoded(as: .jpeg))
    }

    @Test(arguments: [false, true]) func imagesThatWaitForARetryDoNotDelayOthers(isCached: Bool) async throws {
        let file = try photograph()
        try await withLoopbackOrigin { origin in
            origin.route("/dead/*", Response(status: 503, headerFields: ["Retry-After": "60"]))
            origin.route("/live/*", file)
            let paths = (0..<6).map { "/dead/\($0)" } + (0..<10).map { "/live/\($0)" }
            try await withTemporaryFolder { folder in
                let options = ["-o", "\(folder)/images", "--concurrency", "2", "--input", "-"]
                let result = try await Command.run(
                    ["get"] + options + (isCached ? ["--cache", "\(folder)/cache"] : []),
                    input: paths.map { origin.url($0) }.joined(separator: "\n")
                ) { command in
                    await origin.counts { $0.totalRequests == 16 }
                    // The images that wait are canceled.
                    command.interrupt()
                }
                #expect(result.status == 130)
                #expect(origin.counts.totalRequests == 16)
            }
        }
    }

    @Test func hostsWithARateTakeTurnsInASortedList() async throws {
        let file = try photograph()
        try await withLoopbackOrigin { origin in
            origin.route("/*", file)
            let first = (0..<6).map { origin.url("/first/\($0)") }
            let second = (0..<6).map { origin.url("/second/\($0)") }
                .map { "http://localhost:" + $0.drop { $0 != ":" }.dropFirst().drop { $0 != ":" }.dropFirst() }
            try await withTemporaryFolder { folder in
                let result = try await Command.run(
                    ["get", "-o", folder, "--concurrency", "2", "--rate", "5", "--input", "-"],
                    input: (first + second).joined(separator: "\n"))
                #expect(result.status == 0, "\(result.errors)")
            }
            let hosts = origin.recordedRequests.map { $0.path.hasPrefix("/first/") }
            #expect(hosts.count == 12)
            let changes = zip(hosts, hosts.dropFirst()).count { $0 != $1 }
            #expect(changes > 4, "\(hosts)")
        }
    }
}
