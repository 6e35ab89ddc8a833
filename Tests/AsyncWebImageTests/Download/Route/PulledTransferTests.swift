import HTTPTransport
import TestSupport
import Testing
import Threading

@testable import AsyncWebImage
@testable import ResponseCache

/// With a cache or hooks, a response is pulled by a task; callers see no difference.
@Suite(.timeLimit(.minutes(2)))
struct PulledTransferTests {
    /// The reasons for pulling a response.
    enum Stage: CaseIterable, Sendable {
        case cache, hook
    }

    private struct Validator: ResponseValidator {
        var body: @Sendable (ResponseHead) async -> Void = { _ in }

        func validate(_ head: ResponseHead, to request: TransportRequest) async { await body(head) }
    }

    /// Delivers its input on request.
    private struct GatedTransform: BodyTransform {
        struct Transformer: BodyTransformer {
            let gate: GatedTransform

            mutating func transform(_ bytes: [UInt8]) async throws -> [UInt8] {
                gate.isAsked.resolve(.success(()))
                try await gate.opening.value
                return bytes
            }

            mutating func finish() async throws -> [UInt8] { [] }
        }

        let isAsked = OneShot<Void>()
        let opening = OneShot<Void>()

        func transformer(for head: ResponseHead) async throws -> (any BodyTransformer)? { Transformer(gate: self) }
    }

    private let transport = ScriptedTransport()
    private let request = ImageRequest("http://a.example/a")

    private func loader(
        _ cache: ResponseCache? = nil, _ change: (inout DownloadConfiguration) -> Void = { _ in }
    ) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.responseCache = cache
        change(&configuration.downloads)
        return ImageLoader(configuration: configuration, transport: transport)
    }

    /// The next request, whose response has begun.
    private func exchange() async throws -> ScriptedTransport.Exchange {
        var exchanges = transport.exchanges.makeAsyncIterator()
        let exchange = try #require(await exchanges.next())
        exchange.answer(.ok, [.eTag: "\"a\""])
        return exchange
    }

    @Test(arguments: Stage.allCases) func slowConsumerPausesTheTransfer(_ stage: Stage) async throws {
        let cache = stage == .cache ? try ResponseCache.test(nil, ManualTime()) : nil
        let loader = loader(cache) {
            $0.maximumReplayBytes = 0
            if stage == .hook { $0.responseValidator = Validator() }
        }
        let piece = [UInt8](repeating: 7, count: 64 << 10)
        let count = 256
        let sent = Locked(0)
        func send() async throws {
            let exchange = try await exchange()
            for _ in 0..<count {
                guard await exchange.send(piece) else { return }
                sent.withLock { $0 += piece.count }
            }
            exchange.finish()
        }
        async let sending: Void = send()
        // The log's limit, a full pipe, and the piece the task holds.
        let bound = Backpressure.highWater + 2 * BodyPipe.highWater + 4 * piece.count
        var parts = try await loader.bytes(for: request).makeAsyncIterator()
        var read = 0
        while let bytes = try await parts.next() {
            #expect(sent.withLock { $0 } - read <= bound)
            read += bytes.count
        }
        #expect(read == count * piece.count)
        try await sending
    }

    /// Returns the exchange of a request whose first byte is in a transform that waits.
    private func exchangeWaiting(for transform: GatedTransform) async throws -> ScriptedTransport.Exchange {
        let exchange = try await exchange()
        #expect(exchange.offer([1]))
        try await transform.isAsked.value
        return exchange
    }

    @Test func slowBodyTransformPausesTheTransfer() async throws {
        let transform = GatedTransform()
        let loader = loader { $0.bodyTransform = transform }
        let task = loader.dataTask(for: request)
        let exchange = try await exchangeWaiting(for: transform)
        var waiting = 0
        while exchange.offer([UInt8](repeating: 7, count: 16 << 10)) { waiting += 16 << 10 }
        #expect(waiting == BodyPipe.highWater)
        transform.opening.resolve(.success(()))
        await exchange.goesOn()
        exchange.finish()
        #expect(try await task.value.bytes.count == 1 + waiting)
    }

    @Test func transferIsCanceledAtOnceWhileAHookIsSuspended() async throws {
        let (isAsked, gate) = (OneShot<Void>(), OneShot<Void>())
        let loader = loader {
            $0.responseValidator = Validator { _ in
                isAsked.resolve(.success(()))
                // Keeps waiting even if the task is canceled.
                try? await gate.value
            }
        }
        let task = loader.dataTask(for: request)
        let exchange = try await exchange()
        try await isAsked.value
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        _ = await loader.coordinator.activity
        // No more bytes are accepted, because the transfer has ended.
        #expect(await !exchange.send([1]))
        gate.resolve(.success(()))
        await loader.coordinator.becomesIdle()
    }

    @Test func transferIsCanceledAtOnceWhileATransformIsSuspended() async throws {
        let transform = GatedTransform()
        let loader = loader { $0.bodyTransform = transform }
        let task = loader.dataTask(for: request)
        let exchange = try await exchangeWaiting(for: transform)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        _ = await loader.coordinator.activity
        #expect(await !exchange.send([1]))
        transform.opening.resolve(.success(()))
        await loader.coordinator.becomesIdle()
    }

    @Test(arguments: Stage.allCases) func loaderReleasesFinishedTransfer(_ stage: Stage) async throws {
        let cache = stage == .cache ? try ResponseCache.test(nil, ManualTime()) : nil
        let loader = loader(cache) { if stage == .hook { $0.responseValidator = Validator() } }
        let task = loader.dataTask(for: request)
        let exchange = try await exchange()
        #expect(exchange.offer([1, 2, 3]))
        exchange.finish()
        #expect(try await task.value.bytes == [1, 2, 3])
        await loader.coordinator.becomesIdle()
        #expect(exchange.isLetGo)
    }

    /// Returns whether a task pulls the response to a request.
    private func isPulled(
        _ cache: ResponseCache?, _ policy: CachePolicy, _ change: (inout DownloadConfiguration) -> Void = { _ in }
    ) throws -> Bool {
        var configuration = DownloadConfiguration()
        change(&configuration)
        let url = try HTTPURL("http://a.example/a")
        let receiver = DownloadReceiver(
            url: url, log: BodyLog(maximumReplayBytes: 0), rules: ResponseRules(configuration)
        ) {}
        let route = ResponseRoute(
            transport: transport, cache: cache, policy: policy, hooks: DownloadHooks(configuration))
        let transfer = route.start(TransportRequest(url: url), nil, receiver: receiver)
        transfer.cancel()
        return transfer is PulledTransfer
    }

    @Test func onlyCachedOrHookedBodiesArePulled() throws {
        let cache = try ResponseCache.test(nil, ManualTime())
        #expect(try !isPulled(nil, .useProtocol))
        #expect(try !isPulled(cache, .noStore))
        #expect(try isPulled(cache, .useProtocol))
        #expect(try isPulled(nil, .useProtocol) { $0.responseValidator = Validator() })
    }
}
