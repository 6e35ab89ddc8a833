import HTTPTransport
import LoopbackOrigin
import TestSupport
import Testing
import Threading

@testable import AsyncWebImage
@testable import ResponseCache

/// `ImageLoader.bytes(for:)`: bodies that are pulled piece by piece.
@Suite(.timeLimit(.minutes(1)))
struct ImageBytesTests {
    private let body: [UInt8] = {
        var random = SplitMix(seed: 11)
        return (0..<300_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    }()

    /// All that is delivered: bodies, a new one whenever the download has started over.
    private func bodies(_ bytes: ImageBytes) async throws -> [[UInt8]] {
        var bodies: [[UInt8]] = [[]]
        var pieces = bytes.makeAsyncIterator()
        while true {
            do {
                guard let piece = try await pieces.next() else { return bodies }
                #expect(!piece.isEmpty)
                bodies[bodies.count - 1] += piece
            } catch is ImageBytes.StartedOver {
                bodies.append([])
            }
        }
    }

    @Test func imageBytesDeliverTheBodyInOrder() async throws {
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a", .init(headerFields: ["X-Kind": "b"], body: body))
            let loader = ImageLoader(configuration: .patient)
            let bytes = try await loader.bytes(for: ImageRequest(origin.url("/a")))
            // Before a piece is read.
            #expect(bytes.source == .network && bytes.header == nil)
            #expect(bytes.head.status == .ok && bytes.head.contentLength == body.count)
            #expect(try await bodies(bytes) == [body])
            #expect(bytes.source == .network && bytes.head.contentLength == body.count)
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func imageBytesNeverHoldAWholeLargeBody() async throws {
        let count = 16 << 20
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a", .init(body: [UInt8](repeating: 1, count: count)))
            var configuration = ImageLoader.Configuration.patient
            configuration.downloads.maximumReplayBytes = 1 << 20
            let loader = ImageLoader(configuration: configuration)
            var received = 0
            var held = 0
            for try await piece in try await loader.bytes(for: ImageRequest(origin.url("/a"))) {
                received += piece.count
                held = max(held, await loader.coordinator.activity.bytesInFlight)
            }
            #expect(received == count)
            // The replay limit, the read-ahead, and a piece that is being written.
            #expect(held <= 3 << 20)
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func imageBytesReportARestartedBody() async throws {
        let clock = ManualClock()
        let other = Array(body.reversed())
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a", [.init(body: body).cut(at: .body(100_000)), .init(body: other)])
            var configuration = ImageLoader.Configuration.patient
            configuration.downloads.retry = ExponentialBackoff(base: .seconds(1))
            let loader = ImageLoader(configuration: configuration, clock: clock)
            async let all = bodies(loader.bytes(for: ImageRequest(origin.url("/a"))))
            _ = await clock.nextSleep()
            clock.advance(by: .seconds(100))
            let delivered = try await all
            // The received bytes may not have been read yet.
            #expect(delivered.last == other && delivered.count <= 2)
            #expect(body.starts(with: delivered[0]) || delivered.count == 1)
        }
    }

    @Test func restartInvalidatesDeliveredPieces() async throws {
        let transport = ScriptedTransport()
        let clock = ManualClock()
        let (taken, take) = AsyncStream.makeStream(of: Void.self)
        func serve() async throws {
            var exchanges = transport.exchanges.makeAsyncIterator()
            let first = try #require(await exchanges.next())
            first.answer(.ok, [:], [1, 2, 3])
            for await _ in taken { break }
            first.fail(.connectionLost)
            _ = await clock.nextSleep()
            clock.advance(by: .seconds(100))
            let second = try #require(await exchanges.next())
            second.answer(.ok, [:], [9])
            second.finish()
        }
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.retry = ExponentialBackoff(base: .seconds(1))
        let loader = ImageLoader(configuration: configuration, transport: transport, clock: clock)
        async let served: Void = serve()
        var parts = try await loader.bytes(for: ImageRequest("http://a.example/a")).makeAsyncIterator()
        #expect(try await parts.next() == [1, 2, 3])
        take.yield()
        do {
            _ = try await parts.next()
            Issue.record("the body was continued")
        } catch is ImageBytes.StartedOver {}
        #expect(try await parts.next() == [9])
        #expect(try await parts.next() == nil)
        #expect(try await parts.next() == nil)
        try await served
    }

    @Test func leavingTheImageBytesLoopStopsTheDownload() async throws {
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a", .init(body: body).stalled(at: .body(200_000)))
            let loader = ImageLoader(configuration: .patient)
            let bytes = try await loader.bytes(for: ImageRequest(origin.url("/a")))
            for try await _ in bytes { break }
            await loader.coordinator.becomesIdle()
            #expect(bytes.head.status == .ok)
        }
    }

    @Test func pausedTransferStaysPausedUntilItIsStopped() async throws {
        let transport = ScriptedTransport()
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.maximumReplayBytes = 0
        let loader = ImageLoader(configuration: configuration, transport: transport)
        let piece = [UInt8](repeating: 1, count: 64 << 10)
        let server = Task {
            var exchanges = transport.exchanges.makeAsyncIterator()
            let exchange = await exchanges.next()
            exchange?.answer(.ok, [:], piece)
            return exchange
        }
        var parts = try await loader.bytes(for: ImageRequest("http://a.example/a")).makeAsyncIterator()
        #expect(try await parts.next() != nil)
        let loop = Locked<ImageBytes.AsyncIterator?>(consume parts)
        let exchange = try #require(await server.value)
        while exchange.offer(piece) {}
        #expect(exchange.isPaused)
        // Until the end of its turn the coordinator cannot stop the transfer.
        await loader.coordinator.inOneTurn {
            loop.withLock { $0 = nil }
            #expect(exchange.isPaused)
        }
        await loader.coordinator.becomesIdle()
        #expect(!exchange.offer(piece))
    }

    @Test func oneDownloadServesConsumersOfAllKinds() async throws {
        let gate = Gate()
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a", .init(body: body).held(at: .start, until: gate))
            let loader = ImageLoader(configuration: .patient)
            let request = ImageRequest(origin.url("/a"))
            let data = loader.dataTask(for: request)
            await loader.coordinator.callers(reach: 1)
            async let opened = loader.bytes(for: request)
            await loader.coordinator.callers(reach: 2)
            gate.open()
            let bytes = try await opened
            #expect(try await bodies(bytes) == [body])
            #expect(try await data.value.bytes == body)
            #expect(bytes.source == .joined)
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test func suspendedConsumerDelaysNoOtherAndMissesNothing() async throws {
        let large = [UInt8](repeating: 7, count: 8 << 20)
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a", .init(body: large))
            var configuration = ImageLoader.Configuration.patient
            configuration.downloads.maximumReplayBytes = 1 << 20
            let loader = ImageLoader(configuration: configuration)
            let request = ImageRequest(origin.url("/a"))
            async let opened = loader.bytes(for: request)
            let slow = try await loader.bytes(for: request)
            var slowParts = slow.makeAsyncIterator()
            let quick = try await opened
            async let all = bodies(quick)
            var count = try #require(try await slowParts.next()?.count)
            slow.suspendReading()
            #expect(try await all == [large])
            while let part = try await slowParts.next() { count += part.count }
            #expect(count == large.count || origin.counts.totalRequests == 2)
        }
    }

    @Test func imageBytesOfMissingBodyThrowOnce() async throws {
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/missing", .init(status: 404))
            origin.route("/empty", .init(body: []))
            origin.route("/cut", .init(body: body).cut(at: .body(10)))
            let loader = ImageLoader(configuration: .patient)
            for path in ["/missing", "/empty"] {
                await #expect(throws: ImageError.self) { try await loader.bytes(for: ImageRequest(origin.url(path))) }
            }
            var parts = try await loader.bytes(for: ImageRequest(origin.url("/cut"))).makeAsyncIterator()
            var errors = 0
            do { while try await parts.next() != nil {} } catch is ImageError { errors += 1 }
            #expect(errors == 1)
            #expect(try await parts.next() == nil)
            let error = await #expect(throws: ImageError.self) {
                try await loader.bytes(for: ImageRequest("ftp://a.example/"))
            }
            #expect(error?.description == "URLs of the scheme ftp are not supported")
        }
    }

    @Test func imageBytesThrowCancellationErrorWhenCanceled() async throws {
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a", .init(body: body).stalled(at: .start))
            let loader = ImageLoader(configuration: .patient)
            for isOwn in [true, false] {
                let task = Task { try await bodies(loader.bytes(for: ImageRequest(origin.url("/a")))) }
                await loader.coordinator.callers(reach: 1)
                if isOwn { task.cancel() } else { await loader.coordinator.cancelAll() }
                await #expect(throws: CancellationError.self) { try await task.value }
                await loader.coordinator.becomesIdle()
            }
        }
    }

    /// As when the task is canceled while the consumer is about to wait.
    @Test func cancellationNoticedByTheStreamStopsTheDownload() async throws {
        let transport = ScriptedTransport()
        let loader = ImageLoader(configuration: .patient, transport: transport)
        let server = Task {
            var exchanges = transport.exchanges.makeAsyncIterator()
            await exchanges.next()?.answer(.ok, [:], [1, 2, 3])
        }
        let request = ImageRequest("http://a.example/a")
        let feed = BodyStream()
        let subscriber = Subscriber(
            request, try loader.fetchKey(request), id: loader.coordinator.newSubscriberID(), product: .bytes(feed))
        let subscription = BodySubscription(subscriber, feed: feed, coordinator: loader.coordinator)
        _ = try await subscription.open()
        #expect(try await subscription.next() == [1, 2, 3])
        await server.value

        feed.finish(.failure(CancellationError()))
        await #expect(throws: CancellationError.self) { try await subscription.next() }
        #expect(await loader.coordinator.activity.callers == 0)
        await loader.coordinator.becomesIdle()
    }

    @Test func shutdownEndsImageBytes() async throws {
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a", .init(body: body).stalled(at: .body(1)))
            let loader = ImageLoader(configuration: .patient)
            let bytes = try await loader.bytes(for: ImageRequest(origin.url("/a")))
            var parts = bytes.makeAsyncIterator()
            #expect(try await parts.next() == [body[0]])
            await loader.shutdown(gracePeriod: .zero)
            let error = await #expect(throws: ImageError.self) { try await parts.next() }
            #expect(error?.description == "the image loader is shut down")
        }
    }
}
