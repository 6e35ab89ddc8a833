import Glibc
import LoopbackOrigin
import TestSupport
import Testing
import Threading

@testable import HTTPTransport

@Suite(.timeLimit(.minutes(1)))
struct DeadlineTests {
    private static let short = Duration.milliseconds(100)

    @Test(arguments: [
        (LoopbackOrigin.Response.Point.start, Deadlines.Kind.firstByte), (.insideHead, .idle), (.body(0), .idle),
        (.body(10), .idle),
    ])
    func aSilentOriginIsGivenUp(point: LoopbackOrigin.Response.Point, kind: Deadlines.Kind) async throws {
        try await withOrigin { (origin, transport) async throws in
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

    @Test func aLookupCountsAsConnecting() async throws {
        let isOpen = Locked(false)
        let transport = CurlTransport(
            configuration: .init(
                proxy: .none,
                resolver: ThreadedResolver { _ in
                    while !isOpen.withLock({ $0 }) { sched_yield() }
                    return ["127.0.0.1"]
                }))
        let record = try await transport.fetch("http://stuck.example/") { $0.deadlines.connect = Self.short }
        isOpen.withLock { $0 = true }
        #expect(record.error?.reason == .timedOut(.connect))
    }

    @Test func aStuckLookupIsGivenUp() async throws {
        let isOpen = Locked(false)
        let lookups = Locked(0)
        let transport = CurlTransport(
            configuration: .init(
                proxy: .none,
                resolver: ThreadedResolver { _ in
                    lookups.withLock { $0 += 1 }
                    while !isOpen.withLock({ $0 }) { sched_yield() }
                    return ["127.0.0.1"]
                }))
        for _ in 0..<3 {
            let error = try await transport.fetch("http://stuck.example/") { $0.deadlines.lookup = Self.short }.error
            #expect(error?.reason == .timedOut(.lookup))
            #expect(error?.isRetryable == true)
        }
        // The one that hangs is waited for; it is not joined by others.
        #expect(lookups.withLock { $0 } <= 1)
        isOpen.withLock { $0 = true }
    }

    @Test func aHandshakeCountsAsConnecting() async throws {
        // The kernel takes the connection, nobody answers.
        let listener = try SilentListener()
        let transport = CurlTransport(configuration: .init(proxy: .none))
        let record = try await transport.fetch("https://127.0.0.1:\(listener.port)/") {
            $0.deadlines.connect = Self.short
        }
        #expect(record.error?.reason == .timedOut(.connect))
    }

    @Test func aTricklingOriginCannotBeatTheTotal() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: pattern(10_000)).paced(bytesPerSecond: 100, chunk: 1))
            let record = try await transport.fetch(origin.url("/a")) { $0.deadlines.total = .milliseconds(200) }
            #expect(record.error?.reason == .timedOut(.total))
            #expect(record.body.count < 10_000)
        }
    }

    @Test func redirectsDoNotBeatTheTotal() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a") { _ in .redirect(to: "/a").paused(at: .start, for: .milliseconds(10)) }
            let record = try await transport.fetch(origin.url("/a")) {
                $0.deadlines.total = .milliseconds(200)
                $0.redirectLimit = 1_000_000
            }
            #expect(record.error?.reason == .timedOut(.total))
        }
    }

    @Test func aPauseIsNoIdleness() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: pattern(1_000)))
            origin.route("/stalled", LoopbackOrigin.Response(body: pattern(1_000)).stalled(at: .body(1)))
            let paused = Recorder { _, _ in .pause }
            let transfer = try transport.start(origin.url("/a"), paused) { $0.deadlines.idle = .milliseconds(500) }
            await paused.wait { $0.pauses == 1 }
            // A clock that is started later and runs longer.
            let record = try await transport.fetch(origin.url("/stalled")) { $0.deadlines.idle = .seconds(1) }
            #expect(record.error?.reason == .timedOut(.idle))
            #expect(paused.record.outcomes.isEmpty)
            paused.takeAll()
            transfer.resume()
            #expect(await paused.end().body == pattern(1_000))
        }
    }

    @Test func aPauseCountsTowardsTheTotal() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: pattern(1_000)))
            let recorder = Recorder { _, _ in .pause }
            _ = try transport.start(origin.url("/a"), recorder) { $0.deadlines.total = Self.short }
            #expect(await recorder.end().error?.reason == .timedOut(.total))
        }
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(1)])
    func noTimeAtAllIsTooShort(limit: Duration) async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response().stalled(at: .start))
            let record = try await transport.fetch(origin.url("/a")) { $0.deadlines.total = limit }
            #expect(record.error?.reason == .timedOut(.total))
        }
    }

    @Test func agesAreLongEnough() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: [1]))
            let age = Duration.seconds(Int64.max)
            let record = try await transport.fetch(origin.url("/a")) {
                $0.deadlines = Deadlines(connect: age, firstByte: age, idle: age, total: age)
            }
            #expect(record.isComplete)
        }
    }
}
