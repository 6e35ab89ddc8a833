import HTTPTransport
import TestSupport
import Testing
import Threading

@testable import AsyncWebImage
@testable import ResponseCache

/// The stored beginning of a body comes before the rest, however slow the receiver and however quick the network.
@Suite(.timeLimit(.minutes(1)))
struct JoinedBodyTests {
    /// Takes bytes when it may, or stops.
    private final class Receiver: TransferReceiver {
        struct State {
            var bytes: [UInt8] = []
            var mayTake = false
            var stops = false
        }

        let state = Locked(State())
        let hasPaused = OneShot<Void>()

        func receive(_ head: ResponseHead) {}

        func receive(_ bytes: Span<UInt8>) -> BodyDemand {
            var copy: [UInt8] = []
            copy.append(copying: bytes)
            let demand = state.withLock { state -> BodyDemand in
                if state.stops { return .stop }
                guard state.mayTake else { return .pause }
                state.bytes += copy
                return .more
            }
            if case .pause = demand { hasPaused.resolve(.success(())) }
            return demand
        }

        func finish(_ outcome: TransferOutcome) {}
    }

    private static let beginning = (0..<5).map { [UInt8](repeating: $0, count: 1_000) }
    private static let rest: [UInt8] = [9, 9, 9]

    private let cache: ResponseCache
    private let receiver = Receiver()
    private let steered = OneShot<Bool>()
    private let ended = OneShot<TransferOutcome>()
    private let body: JoinedBody

    init() throws {
        cache = try ResponseCache.test(nil, ManualTime())
        body = JoinedBody(
            .memory(Self.beginning, length: 5_000), of: "http://example.com/", to: receiver, on: cache.thread
        ) { [steered] in
            steered.resolve(.success($0))
        } end: { [ended] in
            ended.resolve(.success($0))
        }
    }

    @Test func theRestWaitsForTheBeginning() async throws {
        body.start()
        try await receiver.hasPaused.value
        for _ in 0..<3 {
            guard case .pause = body.receive(Self.rest.span) else {
                Issue.record("not paused")
                return
            }
        }
        #expect(receiver.state.withLock { $0.bytes.isEmpty })
        receiver.state.withLock { $0.mayTake = true }
        body.resume()
        #expect(try await steered.value)
        guard case .more = body.receive(Self.rest.span) else {
            Issue.record("not taken")
            return
        }
        body.finish(.complete(TransferMetrics()))
        guard case .complete = try await ended.value else {
            Issue.record("not complete")
            return
        }
        #expect(receiver.state.withLock { $0.bytes } == Self.beginning.joined() + Self.rest)
    }

    @Test func aNetworkThatEndsEarlyCostsNothingOfTheBeginning() async throws {
        body.start()
        try await receiver.hasPaused.value
        body.finish(.failed(TransportError(url: "", reason: .connectionLost)))
        #expect(!ended.isResolved)
        receiver.state.withLock { $0.mayTake = true }
        body.resume()
        guard case .failed(let error) = try await ended.value else {
            Issue.record("not failed")
            return
        }
        #expect(error.reason == .connectionLost)
        #expect(receiver.state.withLock { $0.bytes.count } == 5_000)
        #expect(!steered.isResolved)
    }

    @Test func aReceiverThatStopsStopsTheNetwork() async throws {
        receiver.state.withLock { $0.stops = true }
        body.start()
        #expect(try await !steered.value)
        guard case .stop = body.receive(Self.rest.span) else {
            Issue.record("not stopped")
            return
        }
        body.finish(.failed(TransportError(url: "", reason: .cancelled)))
        guard case .stopped = try await ended.value else {
            Issue.record("not stopped")
            return
        }
    }

    @Test(arguments: [true, false]) func itCanBeCancelledWhileTheReceiverPauses(beforeTheStart: Bool) async throws {
        if beforeTheStart { body.cancel() }
        body.start()
        if !beforeTheStart {
            try await receiver.hasPaused.value
            body.cancel()
        }
        #expect(try await !steered.value)
        body.finish(.failed(TransportError(url: "", reason: .cancelled)))
        guard case .failed(let error) = try await ended.value else {
            Issue.record("not failed")
            return
        }
        #expect(error.reason == .cancelled)
        #expect(receiver.state.withLock { $0.bytes.isEmpty })
    }
}
