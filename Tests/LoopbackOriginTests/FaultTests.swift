import LoopbackOrigin
import Testing

@Suite(.timeLimit(.minutes(1)))
struct FaultTests {
    typealias Response = LoopbackOrigin.Response

    private let body = Array("0123456789".utf8)
    private let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"

    private func expected(_ point: Response.Point) -> String {
        switch point {
        case .start: ""
        case .insideHead: String(head.prefix(head.count / 2))
        case .body(let count): head + "0123456789".prefix(count)
        }
    }

    @Test(arguments: [Response.Point.start, .insideHead, .body(0), .body(4), .body(10), .body(99)])
    func connectionIsClosedAtTheScriptedPoint(point: Response.Point) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/", Response(body: body).cut(at: point))
            let client = try RawClient(port: origin.port)
            client.get("/")
            let (text, end) = await client.readToEnd()
            #expect(text == expected(point))
            #expect(end == .finished)
        }
    }

    @Test(arguments: [Response.Point.start, .insideHead, .body(0), .body(4)])
    func connectionIsResetAtTheScriptedPoint(point: Response.Point) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/", Response(body: body).reset(at: point))
            let client = try RawClient(port: origin.port)
            client.get("/")
            let (text, end) = await client.readToEnd()
            #expect(text == expected(point))
            #expect(end == .reset)
        }
    }

    @Test(arguments: [Response.Point.start, .insideHead, .body(4)])
    func stalledResponseLastsUntilTheClientLeaves(point: Response.Point) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/", Response(body: body).stalled(at: point))
            do {
                let client = try RawClient(port: origin.port)
                client.get("/")
                #expect(await client.read(atLeast: expected(point).count) == expected(point))
                await origin.counts { $0.runningRequests == 1 }
                #expect(client.unreadCount() == 0)
            }
            await origin.openConnections(become: 0)
            await origin.counts { $0.runningRequests == 0 }
        }
    }

    @Test(arguments: [Response.Point.start, .insideHead, .body(4)])
    func heldResponseContinuesWhenTheGateOpens(point: Response.Point) async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/", Response(body: body).held(at: point, until: gate))
            let client = try RawClient(port: origin.port)
            client.get("/")
            let before = await client.read(atLeast: expected(point).count)
            await origin.requests(to: "/", reach: 1)
            #expect(before == expected(point))
            #expect(client.unreadCount() == 0)

            gate.open()
            #expect(await client.read(through: "6789") == (head + "0123456789").dropFirst(before.count))
        }
    }

    @Test func severalFaultsOfAResponseTakeEffectInOrder() async throws {
        try await withLoopbackOrigin { origin in
            let (first, second) = (Gate(), Gate())
            origin.route(
                "/",
                Response(body: body, framing: .chunked)
                    .held(at: .body(2), until: first).held(at: .body(6), until: second).cut(at: .body(8)))
            let client = try RawClient(port: origin.port)
            client.get("/")
            await origin.bodyBytesSent(to: "/", reach: 2)
            first.open()
            await origin.bodyBytesSent(to: "/", reach: 6)
            #expect(origin.counts.bodyBytesSent["/"] == 6)
            second.open()
            let (text, _) = await client.readToEnd()
            #expect(text.hasSuffix("\r\n\r\n2\r\n01\r\n4\r\n2345\r\n2\r\n67\r\n"))
        }
    }

    @Test func clientMayLeaveWhileTheGateIsShut() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/", Response(body: body).held(at: .body(4), until: gate))
            do {
                let client = try RawClient(port: origin.port)
                client.get("/")
                #expect(await client.read(through: "0123").hasSuffix("0123"))
            }
            await origin.openConnections(become: 0)
            gate.open()
            #expect(origin.counts.bodyBytesSent["/"] == 4)
        }
    }

    @Test func pacedBodyKeepsItsRate() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/", Response(body: body).paced(bytesPerSecond: 100, chunk: 2))
            let client = try RawClient(port: origin.port)
            let clock = ContinuousClock()
            let duration = await clock.measure {
                client.get("/")
                _ = await client.read(through: "89")
            }
            #expect(duration >= .milliseconds(80))
        }
    }

    @Test func originStopsSendingToASlowReader() async throws {
        try await withLoopbackOrigin { origin in
            let body = [UInt8](repeating: 65, count: 32 << 20)
            origin.route("/", Response(body: body))
            origin.route("/other", Response(body: [66]))
            let client = try RawClient(port: origin.port, receiveBuffer: 16_384)
            client.get("/")
            await origin.bodyBytesSent(to: "/", reach: 1)

            // The other connection is served on the same thread after everything the first one can take.
            let other = try RawClient(port: origin.port)
            other.get("/other")
            _ = await other.read(through: "B")
            #expect(origin.counts.bodyBytesSent["/", default: 0] < body.count)

            #expect(await client.read(atLeast: body.count).utf8.count >= body.count)
            await origin.bodyBytesSent(to: "/", reach: body.count)
            #expect(origin.counts.bodyBytesSent["/"] == body.count)
        }
    }
}
