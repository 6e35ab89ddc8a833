import HTTPTransport
import HTTPTypes
import LoopbackOrigin
import Testing

@Suite(.timeLimit(.minutes(1)))
struct BodyTests {
    @Test(arguments: [0, 1, 2, 1_023, 16_383, 16_384, 16_385, 65_536, 65_537, 300_001, 3_000_017])
    func bodyIsReceivedUnchanged(count: Int) async throws {
        let body = pattern(count)
        try await withOriginTwice { (origin, transport) async throws in
            for framing in [LoopbackOrigin.Response.Framing.contentLength, .chunked, .untilClose] {
                origin.route("/body", LoopbackOrigin.Response(body: body, framing: framing))
                for readsDirectly in [true, false] {
                    let recorder = Recorder(readsDirectly: readsDirectly)
                    _ = try transport.start(origin.url("/body"), recorder)
                    let record = await recorder.end()
                    #expect(record.isComplete)
                    #expect(record.body == body)
                    #expect(record.metrics?.bodyBytes == count)
                    #expect(record.heads.count == 1)
                }
            }
        }
    }

    @Test(arguments: [(LoopbackOrigin.Response.Framing.contentLength, true), (.untilClose, true), (.chunked, false)])
    func bodyWithoutChunksIsReadToTheMemoryOfItsReceiver(
        framing: LoopbackOrigin.Response.Framing, isReadDirectly: Bool
    ) async throws {
        let body = pattern(300_001)
        try await withOrigin { (origin, transport) async throws in
            origin.route("/body", LoopbackOrigin.Response(body: body, framing: framing))
            let record = try await transport.fetch(origin.url("/body"))
            #expect(record.body == body)
            // The first read, of 16 KiB, contains the head.
            let bufferedBytes = body.count - record.directBytes
            #expect(isReadDirectly ? bufferedBytes <= 16 << 10 : record.directBytes == 0)
        }
    }

    @Test(arguments: [LoopbackOrigin.Response.Framing.contentLength, .untilClose])
    func failureDuringADirectReadIsReported(framing: LoopbackOrigin.Response.Framing) async throws {
        let body = pattern(300_001)
        try await withOrigin { (origin, transport) async throws in
            let response = LoopbackOrigin.Response(body: body, framing: framing)
            origin.route("/body", response.reset(at: .body(200_000)))
            let record = try await transport.fetch(origin.url("/body"))
            #expect(record.error != nil)
            #expect(record.body == Array(body.prefix(record.body.count)))
        }
    }

    @Test func bodyIsDeliveredWhileItIsSent() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            let gate = Gate()
            origin.route("/held", LoopbackOrigin.Response(body: pattern(1_000)).held(at: .body(400), until: gate))
            let recorder = Recorder()
            _ = try transport.start(origin.url("/held"), recorder)
            await recorder.wait { $0.body.count == 400 }
            gate.open()
            #expect(await recorder.end().body == pattern(1_000))
        }
    }

    @Test func receiverCanStopATransfer() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/big", LoopbackOrigin.Response(body: pattern(10_000_000)))
            let recorder = Recorder { received, _ in received > 100_000 ? .stop : .more }
            _ = try transport.start(origin.url("/big"), recorder)
            let record = await recorder.end()
            #expect(record.wasStopped)
            #expect(record.metrics?.bodyBytes == record.body.count)
            #expect(record.body == Array(pattern(10_000_000).prefix(record.body.count)))
        }
    }

    @Test func aHeadRequestHasNoBody() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: pattern(1_000)))
            let record = try await transport.fetch(origin.url("/a")) {
                $0.method = .head
                $0.maximumBodyBytes = 10
            }
            #expect(record.isComplete)
            #expect(record.head?.contentLength == 1_000)
            #expect(record.body.isEmpty)
            // The handle is used again for a GET.
            #expect(try await transport.fetch(origin.url("/a")).body.count == 1_000)
        }
    }

    @Test func oneConnectionServesRequestsOneAfterTheOther() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: pattern(10)))
            for number in 0..<20 {
                let record = try await transport.fetch(origin.url("/a"))
                #expect(record.metrics?.reusedConnection == (number > 0))
            }
            #expect(origin.counts.openedConnections == 1)
        }
    }

    @Test func heldResponseDoesNotDelayOtherTransfers() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            let gate = Gate()
            origin.route("/held", LoopbackOrigin.Response(body: [1]).held(at: .start, until: gate))
            origin.route("/a", LoopbackOrigin.Response(body: [2]))
            let held = Recorder()
            _ = try transport.start(origin.url("/held"), held)
            #expect(try await transport.fetch(origin.url("/a")).body == [2])
            gate.open()
            #expect(await held.end().body == [1])
        }
    }
}
