import Foundation
import HTTPTypes
import LoopbackOrigin
import SocketPolling
import TestSupport
import Testing

@testable import HTTPTransport

/// Requests over connections of this module: without proxies and challenges.
@Suite(.timeLimit(.minutes(1)))
struct ConnectionPoolTests {
    typealias Response = LoopbackOrigin.Response

    private static func limited(to count: Int) -> CurlTransport.Configuration {
        .init(maximumConnections: count, proxy: .none)
    }

    private static let short = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"

    /// A server, or something in front of it, could otherwise choose the response to the next request.
    @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", "\r\n", "x"])
    func connectionWithMoreThanTheResponseIsNotReused(extra: String) async throws {
        let response = Self.short + extra
        try await withOrigin { (origin, transport) async throws in
            // The server keeps the connection open.
            origin.route("/first", .raw(response).stalled(at: .body(response.utf8.count)))
            origin.route("/a", Response(body: [2]))
            #expect(try await transport.fetch(origin.url("/first")).body == Array("a".utf8))
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.body == [2])
            #expect(record.metrics?.reusedConnection == false)
        }
    }

    /// The body's end is read to memory of the receiver.
    @Test(arguments: ["", "x"]) func connectionIsReusedAfterALongBodyUnlessMoreFollows(extra: String) async throws {
        let body = String(repeating: "a", count: 100_000)
        let response = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)\(extra)"
        try await withOrigin { (origin, transport) async throws in
            // The server keeps the connection open.
            let end = response.utf8.count
            origin.route(
                "/first", extra.isEmpty ? Response(body: Array(body.utf8)) : .raw(response).stalled(at: .body(end)))
            origin.route("/a", Response(body: [2]))
            let first = try await transport.fetch(origin.url("/first"))
            #expect(first.body == Array(body.utf8) && first.directBytes > 0)
            await origin.counts { $0.bodyBytesSent["/first", default: 0] >= body.utf8.count + extra.utf8.count }
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.body == [2])
            #expect(record.metrics?.reusedConnection == extra.isEmpty)
        }
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", "x"])
    func idleConnectionWithUnexpectedBytesIsNotReused(extra: String) async throws {
        let count = Self.short.utf8.count
        try await withOrigin { (origin, transport) async throws in
            let gate = Gate()
            origin.route(
                "/first",
                .raw(Self.short + extra).held(at: .body(count), until: gate).stalled(
                    at: .body(count + extra.utf8.count)))
            origin.route("/a", Response(body: [2]))
            #expect(try await transport.fetch(origin.url("/first")).body == Array("a".utf8))
            gate.open()
            await origin.counts { $0.bodyBytesSent["/first"] == count + extra.utf8.count }
            #expect(try await transport.fetch(origin.url("/a")).body == [2])
        }
    }

    /// The last part of the body has been read from the connection but not taken.
    @Test func connectionOfATransferCanceledWhilePausedIsNotReused() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/first", Response(body: pattern(30_000)))
            origin.route("/a", Response(body: [2]))
            let recorder = Recorder { received, _ in received > 0 ? .pause : .more }
            let transfer = try transport.start(origin.url("/first"), recorder)
            await recorder.wait { $0.pauses == 1 }
            transfer.cancel()
            #expect(await recorder.end().error?.reason == .cancelled)
            #expect(try await transport.fetch(origin.url("/a")).body == [2])
        }
    }

    @Test func connectionOfAStoppedTransferIsNotReused() async throws {
        let response = Self.short + "x"
        try await withOrigin { (origin, transport) async throws in
            origin.route("/first", .raw(response).stalled(at: .body(response.utf8.count)))
            origin.route("/a", Response(body: [2]))
            let recorder = Recorder { _, _ in .stop }
            _ = try transport.start(origin.url("/first"), recorder)
            #expect(await recorder.end().wasStopped)
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.body == [2] && record.metrics?.reusedConnection == false)
        }
    }

    /// The end of the body and the cancellation can be handled in one turn of the transport's thread.
    @Test func transferResumedAndCanceledAtOnceEndsOnce() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a", Response(body: pattern(30_000)))
            for _ in 0..<200 {
                let recorder = Recorder { received, pauses in received > 0 && pauses == 0 ? .pause : .more }
                let transfer = try transport.start(origin.url("/a"), recorder)
                await recorder.wait { $0.pauses == 1 }
                transfer.resume()
                transfer.cancel()
                _ = await recorder.end()
                #expect(await transport.transferCount == 0)
                #expect(recorder.record.outcomes.count == 1 && recorder.record.callsAfterEnd == 0)
            }
        }
    }

    private static let closing = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\na"

    /// libcurl lets the transfers wait, because its own place is taken, and would not notice that others are free.
    @Test(arguments: [1, 2])
    func pendingTransfersTakeThePlacesOfClosedConnections(count: Int) async throws {
        try await withOrigin(Self.limited(to: count + 1)) { (origin, transport) async throws in
            let (first, second) = (Gate(), Gate())
            origin.route("/curl", Response(body: [1]).held(at: .start, until: first))
            origin.route("/closing", .raw(Self.closing).held(at: .start, until: second))
            // Each of them needs a place of its own.
            let third = Gate()
            origin.route("/a", Response(body: [3]).held(at: .start, until: third))
            let curl = Recorder()
            _ = try transport.start(origin.url("/curl"), curl) {
                $0.credential = .digest(user: "me", password: "secret")
            }
            let closing = try (0..<count).map { _ in try transport.recording(origin.url("/closing")) }
            await origin.counts { $0.runningRequests == count + 1 }
            let waiting = try (0..<count).map { _ in try transport.recording(origin.url("/a")) }
            second.open()
            for recorder in closing { #expect(await recorder.end().body == Array("a".utf8)) }
            await origin.counts { $0.requests["/a"] == count }
            third.open()
            for recorder in waiting { #expect(await recorder.end().body == [3]) }
            first.open()
            #expect(await curl.end().body == [1])
        }
    }

    @Test func waitingTransfersReplaceConnectionsThatTheServerCloses() async throws {
        try await withOrigin(Self.limited(to: 2)) { (origin, transport) async throws in
            origin.route("/a", .raw(Self.closing))
            let recorders = try (0..<50).map { _ in try transport.recording(origin.url("/a")) }
            for recorder in recorders { #expect(await recorder.end().body == Array("a".utf8)) }
            #expect(origin.counts.requests["/a"] == 50)
            #expect(await transport.transferCount == 0)
        }
    }

    /// The reader of the response and the parser of its head must agree about the status.
    @Test(arguments: ["HTTP/1.1\t304 200 OK", "HTTP/1.1 \t204 200", "HTTP/1.1\t200 304"])
    func statusAfterATabHasOneMeaning(line: String) async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a", .raw("\(line)\r\nContent-Length: 3\r\n\r\nabc"))
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.isComplete)
            #expect(record.body.isEmpty == (record.head?.status.code != 200))
        }
    }

    @Test func waitingTransfersUseTheConnectionsOfEndedOnes() async throws {
        try await withOrigin(Self.limited(to: 2)) { (origin, transport) async throws in
            origin.route("/a", Response(body: pattern(1_000)))
            try await withThrowingTaskGroup { group in
                for _ in 0..<50 {
                    group.addTask { try await transport.fetch(origin.url("/a")).body == pattern(1_000) }
                }
                for try await isRight in group { #expect(isRight) }
            }
            #expect(origin.counts.openedConnections == 2)
            #expect(await transport.transferCount == 0)
        }
    }

    @Test func waitingTransferReplacesTheConnectionToAnotherServer() async throws {
        try await withOrigin(Self.limited(to: 1)) { (first, transport) async throws in
            try await withLoopbackOrigin { second in
                let gate = Gate()
                first.route("/a", Response(body: [1]).held(at: .start, until: gate))
                second.route("/b", Response(body: [2]))
                let held = Recorder()
                _ = try transport.start(first.url("/a"), held)
                await first.counts { $0.runningRequests == 1 }
                let waiting = Recorder()
                _ = try transport.start(second.url("/b"), waiting)
                #expect(second.counts.openedConnections == 0)
                gate.open()
                #expect(await held.end().body == [1])
                #expect(await waiting.end().body == [2])
                #expect(try await transport.fetch(first.url("/a")).body == [1])
                #expect(first.counts.openedConnections == 2)
            }
        }
    }

    /// libcurl answers challenges, over connections that count toward the same limit.
    @Test func transfersOfLibcurlAndOfThisModuleShareTheLimit() async throws {
        try await withOrigin(Self.limited(to: 3)) { (origin, transport) async throws in
            origin.route("/a", Response(body: pattern(100)))
            let worker = try transport.firstWorker()
            try await withThrowingTaskGroup { group in
                for number in 0..<60 {
                    group.addTask {
                        let record = try await transport.fetch(origin.url("/a")) {
                            if number.isMultiple(of: 3) { $0.credential = .digest(user: "me", password: "secret") }
                        }
                        return (record.body == pattern(100), await worker.openConnectionCount)
                    }
                }
                for try await (isRight, connectionCount) in group {
                    #expect(isRight)
                    #expect(connectionCount <= 3)
                }
            }
            #expect(await transport.transferCount == 0)
        }
    }

    @Test func canceledTransferNoLongerWaitsForAConnection() async throws {
        try await withOrigin(Self.limited(to: 1)) { (origin, transport) async throws in
            let gate = Gate()
            origin.route("/held", Response(body: [1]).held(at: .start, until: gate))
            origin.route("/a", Response(body: [2]))
            let held = Recorder()
            _ = try transport.start(origin.url("/held"), held)
            await origin.counts { $0.runningRequests == 1 }
            let (canceled, waiting) = (Recorder(), Recorder())
            let transfer = try transport.start(origin.url("/a"), canceled)
            _ = try transport.start(origin.url("/a"), waiting)
            transfer.cancel()
            #expect(await canceled.end().error?.reason == .cancelled)
            gate.open()
            #expect(await held.end().body == [1])
            #expect(await waiting.end().body == [2])
            #expect(origin.counts.requests["/a"] == 1)
        }
    }

    @Test func libcurlPerformsAllRequestsIfItsConnectionsCannotBeTaken() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a", Response(body: pattern(100_000)))
            let worker = try transport.firstWorker()
            await worker.performAllRequestsWithLibcurl()
            for number in 0..<3 {
                let record = try await transport.fetch(origin.url("/a"))
                #expect(record.body == pattern(100_000))
                #expect(record.metrics?.reusedConnection == (number > 0))
            }
            #expect(await worker.ownConnectionCount == 0)
            #expect(origin.counts.openedConnections == 1)
        }
    }

    @Test func noMoreIdleConnectionsAreKeptThanConfigured() async throws {
        try await withOrigin(.init(maximumIdleConnections: 2, proxy: .none)) { (origin, transport) async throws in
            let gate = Gate()
            origin.route("/a", Response(body: [1]).held(at: .start, until: gate))
            let recorders = try (0..<6).map { _ in
                let recorder = Recorder()
                _ = try transport.start(origin.url("/a"), recorder)
                return recorder
            }
            await origin.counts { $0.runningRequests == 6 }
            gate.open()
            for recorder in recorders { #expect(await recorder.end().body == [1]) }
            #expect(try await transport.firstWorker().openConnectionCount <= 2)
        }
    }

    @Test func longRequestIsSentInSeveralParts() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a", Response(body: [1]))
            let name = try #require(HTTPField.Name("X-Long"))
            for size in [10, 60_000] {
                let record = try await transport.fetch(origin.url("/a")) {
                    $0.headerFields[name] = String(repeating: "x", count: size)
                }
                #expect(record.body == [1])
            }
            #expect(origin.recordedRequests.map { $0.headerFields["x-long"]?.count } == [10, 60_000])
        }
    }

    /// The server answers early; the next request would follow the remainder of this one.
    @Test func connectionWhoseRequestWasNotSentCompletelyIsNotReused() async throws {
        let listener = try SilentListener()
        try await withOrigin { (_, transport) async throws in
            // Longer than the buffers of both sockets.
            let name = try #require(HTTPField.Name("X-Long"))
            let recorder = Recorder()
            _ = try transport.start("http://127.0.0.1:\(listener.port)/", recorder) {
                $0.headerFields[name] = String(repeating: "x", count: 16 << 20)
            }
            let connection = listener.accept(sending: Self.short)
            defer { close(connection) }
            #expect(await recorder.end().body == Array("a".utf8))
            #expect(try await transport.firstWorker().ownConnectionCount == 0)
        }
    }

    /// Otherwise, the thread would be woken again and again by an event that it does not handle.
    @Test func pausedConnectionIsNotWatchedWhileItsRequestIsIncomplete() async throws {
        let listener = try SilentListener()
        let recorder = Recorder { received, _ in received > 0 ? .pause : .more }
        try await withOrigin { (_, transport) async throws in
            // Longer than the buffers of both sockets.
            let name = try #require(HTTPField.Name("X-Long"))
            let transfer = try transport.start("http://127.0.0.1:\(listener.port)/", recorder) {
                $0.headerFields[name] = String(repeating: "x", count: 16 << 20)
            }
            let connection = listener.accept(sending: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n1")
            defer { close(connection) }
            await recorder.wait { !$0.body.isEmpty }
            _ = send(connection, "2", 1, 0)
            await recorder.wait { $0.pauses == 1 }
            let descriptor = try #require(self.descriptor(connectedTo: listener.port))
            while watchedEvents(of: descriptor) != 0, !Task.isCancelled { await Task.yield() }
            #expect(watchedEvents(of: descriptor) == 0)
            transfer.cancel()
            _ = await recorder.end()
        }
    }

    /// Returns the descriptor of this process's socket that is connected to a port of 127.0.0.1.
    private func descriptor(connectedTo port: Int) -> Int32? {
        (0..<65_536).first { descriptor in
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let status = unsafe withUnsafeMutableBytes(of: &address) { bytes in
                unsafe bytes.withMemoryRebound(to: sockaddr.self) { address in
                    unsafe getpeername(descriptor, address.baseAddress, &length)
                }
            }
            return status == 0 && address.sin_port == UInt16(port).bigEndian
        }
    }

    /// Returns the events for which the epoll instances of this process watch a descriptor, as proc(5) states them.
    private func watchedEvents(of descriptor: Int32) -> UInt32 {
        let folder = "/proc/self/fdinfo"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.reduce(0) { events, name in
            let text = (try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)) ?? ""
            let lines = text.split(separator: "\n").map { $0.split(separator: " ", omittingEmptySubsequences: true) }
            let own = lines.first { $0.count > 3 && $0[0] == "tfd:" && $0[1] == "\(descriptor)" }
            return events | (own.flatMap { UInt32($0[3], radix: 16) } ?? 0)
        }
    }
}

extension CurlTransport {
    /// Starts a transfer, and returns its recorder.
    fileprivate func recording(_ url: String) throws -> Recorder {
        let recorder = Recorder()
        _ = try start(url, recorder)
        return recorder
    }
}

extension CurlWorker {
    fileprivate var ownConnectionCount: Int { pool.count }

    fileprivate var openConnectionCount: Int { thread.poller.connectionCount }
}
