import LoopbackOrigin
import TestSupport
import Testing
import Threading

@testable import HTTPTransport

@Suite(.timeLimit(.minutes(1)))
struct DeadlineTests {
    private static let short = Duration.milliseconds(100)

    @Test func defaultDeadlinesMatchDocumentation() {
        let deadlines = Deadlines()
        #expect(deadlines.lookup == .seconds(8))
        #expect(deadlines.connect == .seconds(10))
        #expect(deadlines.firstByte == .seconds(15))
        #expect(deadlines.idle == .seconds(15))
        #expect(deadlines.total == .seconds(600))
    }

    @Test(arguments: [
        (LoopbackOrigin.Response.Point.start, Deadlines.Kind.firstByte), (.insideHead, .idle), (.body(0), .idle),
        (.body(10), .idle),
    ])
    func silentOriginTimesOut(point: LoopbackOrigin.Response.Point, kind: Deadlines.Kind) async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route(
                "/a",
                LoopbackOrigin.Response(headerFields: ["A": "1", "B": "2"], body: pattern(100)).stalled(at: point))
            let record = try await transport.fetch(origin.url("/a")) {
                // Only the deadline in question, so that a busy machine cannot make another one pass first.
                $0.deadlines = Deadlines(
                    connect: nil, firstByte: kind == .firstByte ? Self.short : nil,
                    idle: kind == .idle ? Self.short : nil)
            }
            #expect(record.error?.reason == .timedOut(kind))
            await origin.openConnections(become: 0)
        }
    }

    @Test func lookupCountsTowardConnectDeadline() async throws {
        let gate = ThreadGate()
        defer { gate.open() }
        let transport = CurlTransport(
            configuration: .init(
                proxy: .none,
                resolver: ThreadedResolver { _ in
                    gate.wait()
                    return ["127.0.0.1"]
                }))
        let record = try await transport.fetch("http://stuck.example/") { $0.deadlines.connect = Self.short }
        #expect(record.error?.reason == .timedOut(.connect))
    }

    @Test func stuckLookupTimesOut() async throws {
        let gate = ThreadGate()
        defer { gate.open() }
        let lookups = Locked(0)
        let transport = CurlTransport(
            configuration: .init(
                proxy: .none,
                resolver: ThreadedResolver { _ in
                    lookups.withLock { $0 += 1 }
                    gate.wait()
                    return ["127.0.0.1"]
                }))
        for _ in 0..<3 {
            let error = try await transport.fetch("http://stuck.example/") { $0.deadlines.lookup = Self.short }.error
            #expect(error?.reason == .timedOut(.lookup))
            #expect(error?.isRetryable == true)
        }
        // Later transfers wait for the stuck lookup instead of starting another one.
        #expect(lookups.withLock { $0 } <= 1)
    }

    @Test func tlsHandshakeCountsTowardConnectDeadline() async throws {
        // The kernel accepts the connection, but no server responds.
        let listener = try SilentListener()
        let transport = CurlTransport(configuration: .init(proxy: .none))
        let record = try await transport.fetch("https://127.0.0.1:\(listener.port)/") {
            $0.deadlines.connect = Self.short
        }
        #expect(record.error?.reason == .timedOut(.connect))
    }

    /// Lines that arrive repeatedly before the deadline do not count as progress.
    @Test(arguments: [
        ("", "HTTP/1.1 102 Processing\r\n\r\n", Deadlines.Kind.firstByte),
        ("HTTP/1.1 200 OK\r\n", "A: b\r\n", .idle),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n", "A: b\r\n", .idle),
    ])
    func slowHeaderLinesDoNotExtendDeadlines(beginning: String, line: String, kind: Deadlines.Kind) async throws {
        try await withOriginTwice { (origin, transport) async throws in
            let response = LoopbackOrigin.Response.raw(beginning + String(repeating: line, count: 900))
            let size = line.utf8.count
            origin.route("/a", response.paced(bytesPerSecond: 50 * size, chunk: size))
            let record = try await transport.fetch(origin.url("/a")) {
                $0.deadlines = Deadlines(
                    connect: nil, firstByte: kind == .firstByte ? .milliseconds(300) : nil,
                    idle: kind == .idle ? .milliseconds(300) : nil)
            }
            #expect(record.error?.reason == .timedOut(kind))
        }
    }

    @Test func slowlySentBodyDoesNotExtendTotalDeadline() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: pattern(10_000)).paced(bytesPerSecond: 100, chunk: 1))
            let record = try await transport.fetch(origin.url("/a")) { $0.deadlines.total = .milliseconds(200) }
            #expect(record.error?.reason == .timedOut(.total))
            #expect(record.body.count < 10_000)
        }
    }

    @Test func redirectsDoNotExtendTotalDeadline() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a") { _ in .redirect(to: "/a").paused(at: .start, for: .milliseconds(10)) }
            let record = try await transport.fetch(origin.url("/a")) {
                $0.deadlines.total = .milliseconds(200)
                $0.maximumRedirects = 1_000_000
            }
            #expect(record.error?.reason == .timedOut(.total))
        }
    }

    @Test func pausedTransferDoesNotReachIdleDeadline() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: pattern(1_000)))
            origin.route("/stalled", LoopbackOrigin.Response(body: pattern(1_000)).stalled(at: .body(1)))
            let paused = Recorder { _, _ in .pause }
            let transfer = try transport.start(origin.url("/a"), paused) { $0.deadlines.idle = .milliseconds(500) }
            await paused.wait { $0.pauses == 1 }
            // This deadline starts later and is longer.
            let record = try await transport.fetch(origin.url("/stalled")) { $0.deadlines.idle = .seconds(1) }
            #expect(record.error?.reason == .timedOut(.idle))
            #expect(paused.record.outcomes.isEmpty)
            paused.takeAll()
            transfer.resume()
            #expect(await paused.end().body == pattern(1_000))
        }
    }

    @Test func pauseCountsTowardTotalDeadline() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: pattern(1_000)))
            let recorder = Recorder { _, _ in .pause }
            _ = try transport.start(origin.url("/a"), recorder) { $0.deadlines.total = Self.short }
            #expect(await recorder.end().error?.reason == .timedOut(.total))
        }
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(1)])
    func zeroDeadlineTimesOut(limit: Duration) async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response().stalled(at: .start))
            let record = try await transport.fetch(origin.url("/a")) { $0.deadlines.total = limit }
            #expect(record.error?.reason == .timedOut(.total))
        }
    }

    @Test func veryLongDeadlinesDoNotOverflow() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: [1]))
            let age = Duration.seconds(Int64.max)
            let record = try await transport.fetch(origin.url("/a")) {
                $0.deadlines = Deadlines(connect: age, firstByte: age, idle: age, total: age)
            }
            #expect(record.isComplete)
        }
    }
}
