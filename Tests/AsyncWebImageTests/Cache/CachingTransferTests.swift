import HTTPTransport
import TestSupport
import Testing
import Threading

@testable import AsyncWebImage
@testable import ResponseCache

/// Stored responses are handed over like others: when they are wanted, and with one end.
@Suite(.timeLimit(.minutes(5)))
struct CachingTransferTests {
    /// Takes pieces by a script: pauses before each, or stops.
    private final class Receiver: ResponseReceiver {
        struct State {
            var bytes: [UInt8] = []
            var heads = 0
            var ends: [TransferOutcome] = []
            var pauses = 0
            var mayTake = false
        }

        let state = Locked(State())
        let demand: BodyDemand?
        let hasPaused = OneShot<Void>()
        let end = OneShot<TransferOutcome>()

        init(_ demand: BodyDemand?) {
            self.demand = demand
        }

        func receive(_ head: ResponseHead, from source: ResponseSource) { state.withLock { $0.heads += 1 } }

        func receive(_ bytes: Span<UInt8>) -> BodyDemand {
            var copy: [UInt8] = []
            copy.append(copying: bytes)
            let demand = state.withLock { state -> BodyDemand in
                if case .pause = self.demand, !state.mayTake {
                    state.pauses += 1
                    return .pause
                }
                state.bytes += copy
                if case .stop = self.demand { return .stop }
                return .more
            }
            if case .pause = demand { hasPaused.resolve(.success(())) }
            return demand
        }

        func finish(_ outcome: TransferOutcome) {
            state.withLock { $0.ends.append(outcome) }
            end.resolve(.success(outcome))
        }
    }

    private let body = (0..<900_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
    private let url = "http://example.com/a"

    private func start(_ receiver: Receiver, policy: CachePolicy = .useProtocol) async throws -> (
        any Transfer, ResponseCache
    ) {
        let cache = try ResponseCache.test(nil, ManualTime())
        try await cache.store(body, url)
        let transport = CachingTransport(
            transport: InstantTransport(body: [1, 2, 3]), cache: cache, policy: policy)
        return (transport.start(TransportRequest(url: try HTTPURL(url)), receiver: receiver), cache)
    }

    @Test func aPausedReceiverIsOfferedTheSameBytesAgain() async throws {
        let receiver = Receiver(.pause)
        let (transfer, cache) = try await start(receiver)
        try await receiver.hasPaused.value
        await cache.settles()
        #expect(receiver.state.withLock { $0.ends.isEmpty && $0.pauses == 1 })
        receiver.state.withLock { $0.mayTake = true }
        transfer.resume()
        guard case .complete = try await receiver.end.value else {
            Issue.record("not complete")
            return
        }
        transfer.resume()
        transfer.cancel()
        await cache.settles()
        receiver.state.withLock { #expect($0.bytes == body && $0.heads == 1 && $0.ends.count == 1) }
    }

    @Test func aPausedReceiverCanBeCancelled() async throws {
        let receiver = Receiver(.pause)
        let (transfer, cache) = try await start(receiver)
        try await receiver.hasPaused.value
        transfer.cancel()
        transfer.cancel()
        guard case .failed(let error) = try await receiver.end.value else {
            Issue.record("not cancelled")
            return
        }
        #expect(error.reason == .cancelled)
        await cache.settles()
        receiver.state.withLock { #expect($0.bytes == [] && $0.ends.count == 1) }
    }

    @Test(arguments: [true, false], [true, false])
    func aRenewalBringsNothingBackThatIsGone(onDisk: Bool, isReplaced: Bool) async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(onDisk ? folder : nil, ManualTime())
            try await cache.store(body, url, [.eTag: "\"a\""])
            let receiver = Receiver(.pause)
            let origin = ScriptedTransport()
            var exchanges = origin.exchanges.makeAsyncIterator()
            let transport = CachingTransport(transport: origin, cache: cache, policy: .revalidate)
            let transfer = transport.start(TransportRequest(url: try HTTPURL(url)), receiver: receiver)
            let exchange = try #require(await exchanges.next())
            #expect(exchange.request.headerFields[.ifNoneMatch] == "\"a\"")
            exchange.answer(.notModified, [.eTag: "\"a\""])
            exchange.finish()
            try await receiver.hasPaused.value

            if isReplaced { try await cache.store([1, 2, 3], url) } else { await cache.remove(url) }
            receiver.state.withLock { $0.mayTake = true }
            transfer.resume()
            _ = try await receiver.end.value
            await cache.settles()
            #expect(receiver.state.withLock { $0.bytes } == body)
            #expect(try await cache.stored(url) == (isReplaced ? [1, 2, 3] : nil))
        }
    }

    @Test func aReceiverMayStop() async throws {
        let receiver = Receiver(.stop)
        let (_, cache) = try await start(receiver)
        guard case .stopped = try await receiver.end.value else {
            Issue.record("not stopped")
            return
        }
        await cache.settles()
        receiver.state.withLock { #expect($0.heads == 1 && $0.ends.count == 1 && $0.bytes.count <= body.count) }
    }

    @Test func cancellingAtAnyMomentEndsOnce() async throws {
        for delay in 0..<40 {
            let receiver = Receiver(nil)
            let (transfer, cache) = try await start(
                receiver, policy: delay.isMultiple(of: 2) ? .useProtocol : .revalidate)
            for _ in 0..<delay { await Task.yield() }
            transfer.cancel()
            _ = try await receiver.end.value
            await cache.settles()
            receiver.state.withLock { #expect($0.ends.count == 1) }
        }
    }

    @Test func aTransportThatAnswersAtOnceIsStored() async throws {
        let receiver = Receiver(nil)
        let (_, cache) = try await start(receiver, policy: .reload)
        _ = try await receiver.end.value
        await cache.settles()
        #expect(try await cache.stored(url) == [1, 2, 3])
    }

    /// The rest of a body may have come before the transport has returned what it came by.
    @Test func aTransferThatIsOverIsLetGo() async throws {
        let transport = RestTransport(whole: body)
        let cache = try ResponseCache.test(nil, ManualTime())
        let caching = CachingTransport(transport: transport, cache: cache, policy: .useProtocol)
        for attempt in 1...2 {
            let receiver = Receiver(nil)
            _ = caching.start(TransportRequest(url: try HTTPURL(url)), receiver: receiver)
            _ = try await receiver.end.value
            await cache.settles()
            #expect(receiver.state.withLock { $0.bytes } == Array(body.prefix(400_000)), "\(attempt)")
        }
        #expect(transport.handles.count == 2)
        #expect(transport.handles.allSatisfy { $0.transfer == nil })
    }
}

/// Answers before `start` returns: a first request with a body that breaks off, others with the rest of it.
private final class RestTransport: Transport {
    /// Like one of libcurl's, a transfer holds its receiver.
    final class Handle: Transfer {
        private let receiver: any TransferReceiver

        init(_ receiver: any TransferReceiver) {
            self.receiver = receiver
        }

        func cancel() {}
        func resume() {}
    }

    struct WeakHandle {
        weak let transfer: Handle?
    }

    private let whole: [UInt8]
    private let state = Locked<[WeakHandle]>([])

    var handles: [WeakHandle] { state.withLock { $0 } }

    init(whole: [UInt8]) {
        self.whole = whole
    }

    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        var fields: HTTPFields = [.eTag: "\"a\"", .cacheControl: "max-age=60"]
        if request.headerFields[.range] == nil {
            fields[.contentLength] = "\(whole.count)"
            receiver.receive(ResponseHead(response: HTTPResponse(status: .ok, headerFields: fields), url: request.url))
            let beginning = Array(whole.prefix(400_000))
            _ = receiver.receive(beginning.span)
            receiver.finish(.failed(TransportError(url: request.url.string, reason: .connectionLost)))
        } else {
            fields[.contentLength] = "\(whole.count - 400_000)"
            fields[.contentRange] = "bytes 400000-\(whole.count - 1)/\(whole.count)"
            receiver.receive(
                ResponseHead(response: HTTPResponse(status: .partialContent, headerFields: fields), url: request.url))
            receiver.finish(.failed(TransportError(url: request.url.string, reason: .connectionLost)))
        }
        let handle = Handle(receiver)
        state.withLock { $0.append(WeakHandle(transfer: handle)) }
        return handle
    }
}
