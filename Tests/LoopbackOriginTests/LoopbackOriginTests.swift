import Foundation
import LoopbackOrigin
import Testing

@Suite(.timeLimit(.minutes(1)))
struct LoopbackOriginTests {
    typealias Response = LoopbackOrigin.Response

    @Test func originKeepsConnectionsAlive() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", Response(body: Array("first".utf8)))
            origin.route("/b", Response(body: Array("second".utf8)))
            let client = try RawClient(port: origin.port)
            for (path, body) in [("/a", "first"), ("/b", "second"), ("/a", "first")] {
                client.get(path)
                #expect(await client.read(through: body).hasSuffix("\r\n\r\n" + body))
            }
            #expect(origin.counts.openedConnections == 1)
            #expect(origin.counts.requests == ["/a": 2, "/b": 1])
            #expect(origin.recordedRequests.map(\.connection) == [1, 1, 1])
        }
    }

    @Test func originAnswersPipelinedRequestsInOrder() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", Response(body: Array("A!".utf8)).paced(bytesPerSecond: 1_000, chunk: 1))
            origin.route("/b", Response(body: Array("B!".utf8)))
            let client = try RawClient(port: origin.port)
            client.send("GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\nConnection: close\r\n\r\n")
            let (text, _) = await client.readToEnd()
            #expect(text.split(separator: "\r\n\r\n").map { $0.prefix(2) } == ["HT", "A!", "B!"])
            #expect(origin.counts.maximumRunningRequests == 1)
        }
    }

    @Test func requestsAreRecorded() async throws {
        try await withLoopbackOrigin { origin in
            let client = try RawClient(port: origin.port)
            client.get("/a?b=c", headerFields: "Range: bytes=5-\r\nX: 1\r\nX: 2\r\n")
            #expect(await client.read(through: "nothing at /a\n").hasPrefix("HTTP/1.1 404 Not Found\r\n"))
            let request = try #require(origin.recordedRequests(to: "/a").first)
            #expect(request.method == "GET")
            #expect(request.query == "b=c")
            #expect(request.headerFields["range"] == "bytes=5-")
            #expect(request.headerFields.values(named: "x") == ["1", "2"])
        }
    }

    @Test func originRoutesBySequenceHandlerQueryAndPrefix() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/retry", [Response(status: 503, headerFields: ["Retry-After": "1"]), Response(status: 200)])
            origin.route("/tag") { request in
                Response(status: request.headerFields["If-None-Match"] == "\"1\"" ? 304 : 200)
            }
            origin.route("/tag?q", Response(status: 410))
            origin.route("/many/*", Response(status: 201))
            let client = try RawClient(port: origin.port)
            func status(_ path: String, headerFields: String = "") async -> String {
                client.get(path, headerFields: headerFields)
                return await String(client.read(through: "\r\n\r\n").dropFirst(9).prefix(3))
            }
            #expect(await status("/retry") == "503")
            #expect(await status("/retry") == "200")
            #expect(await status("/retry") == "200")
            #expect(await status("/tag") == "200")
            #expect(await status("/tag", headerFields: "If-None-Match: \"1\"\r\n") == "304")
            #expect(await status("/tag?q") == "410")
            #expect(await status("/many/7") == "201")
        }
    }

    @Test func originCountsConcurrentRequests() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/", Response(body: [65]).held(at: .start, until: gate))
            let clients = try (0..<5).map { _ in try RawClient(port: origin.port) }
            for client in clients { client.get("/") }
            await origin.counts { $0.runningRequests == 5 }
            gate.open()
            for client in clients { _ = await client.read(through: "A") }
            await origin.counts { $0.runningRequests == 0 }
            #expect(origin.counts.maximumRunningRequests == 5)
            #expect(origin.counts.openedConnections == 5)
        }
    }

    @Test func malformedRequestsEndTheConnection() async throws {
        try await withLoopbackOrigin { origin in
            let client = try RawClient(port: origin.port)
            client.send("\u{1}\u{2} nonsense\r\n\r\n")
            #expect(await client.readToEnd().text == "")
        }
    }

    @Test func cancelingATaskEndsItsWaitForRequests() async throws {
        try await withLoopbackOrigin { origin in
            let waiter = Task { await origin.requests(to: "/never", reach: 1) }
            waiter.cancel()
            await waiter.value
        }
    }

    @Test func stoppingTheOriginEndsWaitsForRequests() async throws {
        let origin = try await LoopbackOrigin.start()
        let waiter = Task { await origin.requests(to: "/never", reach: 1) }
        await origin.stop()
        await waiter.value
        await origin.stop()
    }

    /// Runs in a separate process without other activity.
    @Test func stoppedOriginLeavesNoResources() async {
        await #expect(processExitsWith: .success) {
            /// Sockets, event descriptors, and the event loop's threads.
            func leftOvers() throws -> Int {
                let files = FileManager.default
                let descriptors = try files.contentsOfDirectory(atPath: "/proc/self/fd")
                    .compactMap { try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0) }
                    .filter { $0.hasPrefix("socket:") || $0.hasPrefix("anon_inode:") }
                let threads = try files.contentsOfDirectory(atPath: "/proc/self/task")
                    .compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
                    .filter { $0.hasPrefix("NIO") }
                return descriptors.count + threads.count
            }
            func openAndStop() async throws {
                try await withLoopbackOrigin { origin in
                    origin.route("/", Response(body: [65]).stalled(at: .body(0)))
                    let client = try RawClient(port: origin.port)
                    client.get("/")
                    await origin.requests(to: "/", reach: 1)
                    let whileRunning = try leftOvers()
                    #expect(whileRunning > 0)
                }
            }
            try await openAndStop()
            let before = try leftOvers()
            for _ in 0..<20 { try await openAndStop() }
            let after = try leftOvers()
            #expect(after <= before)
        }
    }
}
