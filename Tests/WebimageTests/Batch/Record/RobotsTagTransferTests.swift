import AsyncWebImage
import HTTPTransport
import LoopbackOrigin
import TestSupport
import Testing
import Threading

@testable import webimage

/// The transfer of a response that X-Robots-Tag refuses.
@Suite(.timeLimit(.minutes(1)))
struct RobotsTagTransferTests {
    /// A transport that counts the bytes of bodies that it has read from their connections.
    private final class CountingTransport: Transport {
        private let transport = CurlTransport()
        let counts = Counts()

        func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
            transport.start(request, receiver: CountingReceiver(receiver, counts))
        }
    }

    private final class Counts: Sendable {
        /// The number of bytes taken by the receivers.
        let taken = Locked(0)
        /// The number of bytes of the last piece, if its receiver did not take it yet.
        let refused = Locked(0)
        /// The number of times that a transfer was paused.
        let pauses = Tally()
        let ends = Tally()

        var read: Int { taken.withLock { $0 } + refused.withLock { $0 } }
    }

    private final class CountingReceiver: TransferReceiver {
        private let receiver: any TransferReceiver
        private let counts: Counts

        init(_ receiver: any TransferReceiver, _ counts: Counts) {
            self.receiver = receiver
            self.counts = counts
        }

        func receive(_ head: ResponseHead) { receiver.receive(head) }

        func receive(_ bytes: Span<UInt8>) -> BodyDemand {
            let count = bytes.count
            let demand = receiver.receive(bytes)
            if case .pause = demand {
                // They are delivered again.
                counts.refused.withLock { $0 = count }
                counts.pauses.add()
            } else {
                counts.refused.withLock { $0 = 0 }
                counts.taken.withLock { $0 += count }
            }
            return demand
        }

        func finish(_ outcome: TransferOutcome) {
            receiver.finish(outcome)
            counts.ends.add()
        }
    }

    /// A validator that waits for the test before it decides.
    private struct SlowValidator: ResponseValidator {
        let rule: RobotsTagRule
        let gate: Tally

        func validate(_ head: ResponseHead, to request: TransportRequest) async throws {
            await gate.reaches(1)
            try await rule.validate(head, to: request)
        }
    }

    private let rule = RobotsTagRule(disallowed: ["noai"], names: [])

    private func read(
        _ validator: any ResponseValidator, _ fields: HeaderFields, whileRunning: (CountingTransport) async -> Void
    ) async throws -> (read: Int, isRefused: Bool) {
        try await withLoopbackOrigin { origin in
            let body = [UInt8](repeating: 1, count: 10 << 20)
            origin.route("/large", LoopbackOrigin.Response(headerFields: fields, body: body))
            var configuration = ImageLoader.Configuration()
            configuration.downloads.responseValidator = validator
            let transport = CountingTransport()
            let loader = ImageLoader(configuration: configuration, transport: transport)
            async let result = Result { try await loader.data(for: ImageRequest(origin.url("/large"))) }
            await whileRunning(transport)
            let isRefused: Bool
            switch await result {
            case .failure(ImageError.rejected(_, _, _ as ImageRefusal)): isRefused = true
            default: isRefused = false
            }
            await transport.counts.ends.reaches(1)
            return (transport.counts.read, isRefused)
        }
    }

    @Test func bodyThatXRobotsTagRefusesIsNotRead() async throws {
        let (read, isRefused) = try await read(rule, ["X-Robots-Tag": "noai"]) { _ in }
        #expect(isRefused)
        #expect(read <= 64 << 10)
    }

    @Test func bodyIsNotReadWhileItsHeadIsChecked() async throws {
        let gate = Tally()
        let (read, isRefused) = try await read(SlowValidator(rule: rule, gate: gate), ["X-Robots-Tag": "noai"]) {
            // As much as is read before the head is accepted.
            await $0.counts.pauses.reaches(1)
            gate.add()
        }
        #expect(isRefused)
        #expect(read <= 64 << 10)
    }

    @Test func bodyThatXRobotsTagAllowsIsRead() async throws {
        let (read, isRefused) = try await read(rule, ["X-Robots-Tag": "nofollow"]) { _ in }
        #expect(!isRefused)
        #expect(read == 10 << 20)
    }
}

extension Result where Failure == any Error, Success: Sendable {
    /// Creates the result of `body`.
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
