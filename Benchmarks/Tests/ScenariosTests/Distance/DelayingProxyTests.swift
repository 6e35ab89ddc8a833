import ArgumentParser
import DelayingProxy
import Foundation
import LoopbackOrigin
import Synchronization
import Testing

@testable import Scenarios

/// Tests of the delaying proxy with sockets: lower bounds of times only, which no load of the machine can break.
@Suite(.timeLimit(.minutes(1))) struct DelayingProxyTests {
    /// Runs `body` with the port of a proxy before `origin`.
    private func withProxy<Result: Sendable>(
        before origin: Origin, roundTrip: Int, _ body: @Sendable (UInt16) async throws -> Result
    ) async throws -> Result {
        let port = try LoopbackSocket.freePort()
        let command = try #require(
            try ProxyCommand.parseAsRoot(["--round-trip", "\(roundTrip)", "\(port):\(origin.port)"]) as? ProxyCommand)
        let proxy = RunningProxy(unsafe try command.open())
        defer { proxy.stop() }
        return try await body(port)
    }

    private func answer(to name: String, port: UInt16) throws -> Int {
        try LoopbackSocket.answer(to: "GET /\(name) HTTP/1.0\r\n\r\n", port: port).utf8.count
    }

    @Test func aRequestTakesTwoRoundTrips() async throws {
        try await withOrigin(bodies: [1_000]) { origin, _ in
            try await withProxy(before: origin, roundTrip: 100) { port in
                let started = ContinuousClock.now
                let bytes = try answer(to: "body-1000", port: port)
                #expect(bytes > 100)
                #expect(ContinuousClock.now - started >= .milliseconds(200))
            }
        }
    }

    /// With 14,600 bytes at first, 60,000 bytes need three flights, so two more round trips than a small body.
    @Test func aLargeBodyTakesTheRoundTripsOfSlowStart() async throws {
        try await withOrigin(bodies: [60_000]) { origin, _ in
            try await withProxy(before: origin, roundTrip: 100) { port in
                let started = ContinuousClock.now
                let bytes = try answer(to: "body-60000", port: port)
                #expect(bytes > 60_000 / 2)
                #expect(ContinuousClock.now - started >= .milliseconds(400))
            }
        }
    }

    @Test func withoutADelayBytesArriveUnchanged() async throws {
        try await withLoopbackOrigin { loopback in
            let text = String((0..<500_000).map { _ in "abcdefghij".randomElement() ?? "a" })
            loopback.route("/text", LoopbackOrigin.Response(body: Array(text.utf8)))
            let origin = Origin(port: UInt16(loopback.port))
            try await withProxy(before: origin, roundTrip: 0) { port in
                for _ in 0..<3 {
                    let answer = try LoopbackSocket.answer(to: "GET /text HTTP/1.0\r\n\r\n", port: port)
                    #expect(answer.hasSuffix(text))
                }
            }
        }
    }

    @Test func aConnectionToNoServerIsClosed() async throws {
        let origin = Origin(port: try LoopbackSocket.freePort())
        try await withProxy(before: origin, roundTrip: 1) { port in
            let answer = try? LoopbackSocket.answer(to: "GET / HTTP/1.0\r\n\r\n", port: port)
            #expect(answer ?? "" == "")
        }
    }

    @Test(arguments: [["proxy", "--round-trip", "-1", "1:2"], ["proxy", "--round-trip", "1", "1"], ["proxy", "1:2"]])
    func invalidArgumentsOfTheProxyAreRejected(arguments: [String]) {
        #expect(throws: (any Error).self) { try Scenarios.parseAsRoot(arguments) }
    }
}

/// A proxy on a thread of its own.
private final class RunningProxy: Sendable {
    private nonisolated(unsafe) let proxy: OpaquePointer
    private nonisolated(unsafe) let stops = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
    private let ended = DispatchSemaphore(value: 0)

    init(_ proxy: OpaquePointer) {
        unsafe self.proxy = proxy
        unsafe stops.initialize(to: 0)
        Thread.detachNewThread { [self] in
            unsafe delaying_proxy_run(self.proxy, stops)
            ended.signal()
        }
    }

    func stop() {
        unsafe stops.pointee = 1
        ended.wait()
        unsafe delaying_proxy_close(proxy)
        unsafe stops.deallocate()
    }
}
