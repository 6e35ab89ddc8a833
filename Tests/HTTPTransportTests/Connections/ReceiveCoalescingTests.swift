import LoopbackOrigin
import Synchronization
import Testing

@testable import HTTPTransport

/// Small pieces of large bodies, which are left in the socket for a short time.
@Suite(.timeLimit(.minutes(1)))
struct ReceiveCoalescingTests {
    private static let sufficient = ReceiveCoalescing.sufficientCount
    private static let delay = ReceiveCoalescing.maximumDelay

    private let start = MonotonicInstant.now
    private var coalescing = ReceiveCoalescing()

    private mutating func receive(_ count: Int, missing: Int = 1_000_000, after time: Duration) {
        coalescing.received(count, missing: missing, at: start + time)
    }

    @Test mutating func firstPieceIsFollowedByAReadOfAnyByte() {
        receive(1_000, after: .zero)
        #expect(coalescing.minimumCount == 1 && coalescing.due == nil)
    }

    @Test mutating func smallPiecesInQuickSuccessionAreCollectedForAShortTime() {
        receive(1_000, after: .zero)
        receive(1_000, after: .milliseconds(2))
        #expect(coalescing.minimumCount == Self.sufficient)
        #expect(coalescing.due == start + .milliseconds(2) + Self.delay)
        receive(Self.sufficient, after: .milliseconds(10))
        #expect(coalescing.minimumCount == Self.sufficient)
        #expect(coalescing.due == start + .milliseconds(10) + Self.delay)
    }

    @Test mutating func piecesOfASlowBodyAreReadAtOnce() {
        receive(1_000, after: .zero)
        receive(1_000, after: Self.delay)
        #expect(coalescing.minimumCount == 1 && coalescing.due == nil)
    }

    @Test mutating func largePiecesAreReadAtOnce() {
        receive(Self.sufficient, after: .zero)
        receive(Self.sufficient, after: .milliseconds(1))
        #expect(coalescing.minimumCount == 1 && coalescing.due == nil)
    }

    @Test mutating func lastPiecesAreReadAtOnce() {
        receive(1_000, after: .zero)
        receive(1_000, missing: Self.sufficient, after: .milliseconds(1))
        #expect(coalescing.due != nil)
        receive(1_000, missing: Self.sufficient - 1, after: .milliseconds(2))
        #expect(coalescing.minimumCount == 1 && coalescing.due == nil)
    }

    @Test mutating func pauseOfTheServerEndsTheCollection() {
        receive(1_000, after: .zero)
        receive(1_000, after: .milliseconds(1))
        coalescing.stop()
        #expect(coalescing.minimumCount == 1 && coalescing.due == nil)
        receive(1_000, after: .milliseconds(1) + Self.delay)
        #expect(coalescing.due == nil, "the pause was long")
        receive(1_000, after: .milliseconds(2) + Self.delay)
        #expect(coalescing.due != nil)
    }

    @Test(arguments: [(Duration.milliseconds(199), false), (.milliseconds(200), true), (nil, true)])
    func bytesAreReadAtOnceIfTheDeadlineForSilenceIsShort(idle: Duration?, isAllowed: Bool) {
        #expect(ReceiveCoalescing.isAllowed(by: Deadlines(idle: idle)) == isAllowed)
    }

    @Test func smallPiecesAreDeliveredTogether() async throws {
        let (body, pieceCount) = (pattern(256 << 10), 256)
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a", .init(body: body).paced(bytesPerSecond: 1 << 20, chunk: body.count / pieceCount))
            let deliveryCount = Atomic(0)
            let recorder = Recorder(readsDirectly: false) { _, _ in
                deliveryCount.add(1, ordering: .relaxed)
                return .more
            }
            _ = try transport.start(origin.url("/a"), recorder)
            #expect(await recorder.end().body == body)
            #expect(deliveryCount.load(ordering: .relaxed) < pieceCount / 2)
        }
    }

    @Test func piecesBeforeAPauseOfTheServerAreDeliveredDuringThePause() async throws {
        let (body, received) = (pattern(100_000), 45_000)
        try await withOrigin { (origin, transport) async throws in
            let gate = Gate()
            origin.route(
                "/a",
                .init(body: body).paced(bytesPerSecond: 1_000_000, chunk: 500).held(at: .body(received), until: gate))
            let recorder = Recorder()
            _ = try transport.start(origin.url("/a"), recorder)
            await recorder.wait { $0.body.count == received }
            gate.open()
            #expect(await recorder.end().body == body)
        }
    }

    /// The socket must again be readable with the first byte.
    @Test func connectionIsReusedForASmallResponse() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a", .init(body: pattern(100_000)).paced(bytesPerSecond: 2_000_000, chunk: 500))
            origin.route("/b", .init(body: [1]))
            #expect(try await transport.fetch(origin.url("/a")).isComplete)
            let record = try await transport.fetch(origin.url("/b"))
            #expect(record.body == [1] && record.metrics?.reusedConnection == true)
        }
    }
}
