import AsyncWebImage
import HTTPTransport
import Synchronization
import Threading

/// A transport that measures the data received through another one.
final class TransferMeter: Transport {
    /// The received data of one URL.
    struct Flow: Sendable, Equatable {
        var received = 0
        /// The length declared by the server, or `nil`.
        var expected: Int?
        var status: Int?
        /// A Boolean value that indicates whether an attempt has begun and not failed.
        fileprivate(set) var isActive = false
        /// The number of followers.
        fileprivate var followers = 0
    }

    private let transport: any Transport
    private let flows = Locked([String: Flow]())
    private let total = Atomic<Int>(0)

    init(over transport: any Transport) {
        self.transport = transport
    }

    /// The number of bytes received in all bodies.
    var received: Int { total.load(ordering: .relaxed) }

    /// Measures the data of `url` until each caller has called ``forget(_:)``, so that a long list leaves nothing
    /// behind.
    func follow(_ url: String) {
        guard let key = try? HTTPURL(url).string else { return }
        flows.withLock { $0[key, default: Flow()].followers += 1 }
    }

    /// Returns the received data of `url`; `nil` if it is not followed.
    func flow(of url: String) -> Flow? {
        guard let key = try? HTTPURL(url).string else { return nil }
        return flows.withLock { $0[key] }
    }

    /// Returns whether the image of a source is being transferred or processed.
    func hasBegun(_ source: ImageSource) -> Bool {
        guard case .url(let url) = source.location else { return true }
        return flow(of: url)?.isActive == true
    }

    /// Ends one call of ``follow(_:)``: stops measuring `url` when no caller follows it.
    func forget(_ url: String) {
        guard let key = try? HTTPURL(url).string else { return }
        flows.withLock { flows in
            guard let flow = flows[key] else { return }
            if flow.followers > 1 { flows[key]?.followers -= 1 } else { flows[key] = nil }
        }
    }

    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        let key = request.url.string
        update(key) { $0 = Flow(isActive: true, followers: $0.followers) }
        let metered =
            if let direct = receiver as? any DirectBodyReceiver {
                DirectMeteredReceiver(direct: direct, meter: self, key: key)
            } else {
                MeteredReceiver(receiver: receiver, meter: self, key: key)
            }
        return transport.start(request, receiver: metered)
    }

    private func update(_ key: String, _ change: (inout Flow) -> Void) {
        flows.withLock { flows in
            if var flow = flows[key] {
                change(&flow)
                flows[key] = flow
            }
        }
    }

    /// A receiver between the transport and the actual receiver.
    ///
    /// `@unchecked Sendable`: a class with a subclass; all properties are constant.
    private class MeteredReceiver: TransferReceiver, @unchecked Sendable {
        private let receiver: any TransferReceiver
        private let meter: TransferMeter
        private let key: String

        init(receiver: any TransferReceiver, meter: TransferMeter, key: String) {
            self.receiver = receiver
            self.meter = meter
            self.key = key
        }

        func receive(_ head: ResponseHead) {
            meter.update(key) { flow in
                flow.status = head.status.code
                flow.expected = head.contentLength
            }
            receiver.receive(head)
        }

        func receive(_ bytes: Span<UInt8>) -> BodyDemand {
            let demand = receiver.receive(bytes)
            // Data that was not taken will be offered again.
            if case .pause = demand { return demand }
            add(bytes.count)
            return demand
        }

        final func add(_ count: Int) {
            meter.total.wrappingAdd(count, ordering: .relaxed)
            meter.update(key) { $0.received += count }
        }

        func finish(_ outcome: TransferOutcome) {
            meter.update(key) { flow in
                // The request might be repeated later.
                if case .failed = outcome { flow.isActive = false }
                if let status = flow.status, status >= 400 { flow.isActive = false }
            }
            receiver.finish(outcome)
        }
    }

    /// A receiver in whose memory the transport writes the body; `@unchecked Sendable` as its superclass.
    private final class DirectMeteredReceiver: MeteredReceiver, DirectBodyReceiver, @unchecked Sendable {
        private let direct: any DirectBodyReceiver

        init(direct: any DirectBodyReceiver, meter: TransferMeter, key: String) {
            self.direct = direct
            super.init(receiver: direct, meter: meter, key: key)
        }

        func receive(upTo count: Int, reading read: (inout OutputSpan<UInt8>) -> Void) -> BodyDemand? {
            direct.receive(upTo: count) { output in
                let before = output.count
                read(&output)
                add(output.count - before)
            }
        }
    }
}
