import HTTPTypes
import TestSupport
import Testing

@testable import HTTPTransport

/// Exchanges with bytes changed at random.
struct HTTP2MutationTests {
    /// The frames of a server that answers three requests.
    private static let frames: [HTTP2Frame] = [
        .settings([(3, 100), (4, 65_536)]), .settingsAcknowledgment,
        .headers([(":status", "103"), ("link", "a")]),
        .headers([(":status", "200"), ("content-length", "5"), ("content-type", "image/png")]), .data([1, 2, 3]),
        .ping, .windowUpdate(1_000),
        HTTP2Frame(type: 1, stream: 3, payload: [0x88, 0x40, 0x01, 0x61, 0x02, 0x62, 0x63]),
        .continuation([0xBE, 0xBE], HTTP2Frame.endHeaders, stream: 3), .data([2, 9, 9, 0, 0], 0x8, stream: 3),
        .headers([("checksum", "1")], 0x5, stream: 3), .data([4, 5], HTTP2Frame.endStream), .goAway(lastStream: 5),
        .reset(8, stream: 5),
    ]

    @Test func framesWithoutChangesAnswerAllRequests() throws {
        let exchange = try self.exchange(Self.frames.flatMap(\.bytes), inPiecesOf: .max, cancels: false)
        #expect(exchange.failure == nil)
        #expect(exchange.ends == [1: .complete, 3: .complete, 5: .reset(.cancel)])
        #expect(exchange.bodies == [1: [1, 2, 3, 4, 5], 3: [9, 9]])
    }

    @Test(arguments: 0..<8)
    func changedBytesNeverTrap(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        var failures = 0
        for _ in 0..<500 {
            let bytes = mutate(Self.frames, &random)
            let exchange = try self.exchange(
                bytes, inPiecesOf: Int.random(in: 1...bytes.count, using: &random), cancels: Bool.random(using: &random)
            )
            if exchange.failure != nil { failures += 1 }
            check(exchange)
        }
        #expect(failures > 50 && failures < 500)
    }

    /// Performs an exchange in which the server sends `bytes`.
    private func exchange(_ bytes: [UInt8], inPiecesOf size: Int, cancels: Bool) throws -> HTTP2Exchange {
        let exchange = try HTTP2Exchange()
        for _ in 0..<3 { _ = try exchange.open() }
        _ = exchange.takeOutput()
        if cancels { exchange.onCall = { [session = exchange.session] in if $0 == 3 { session.cancel(3) } } }
        exchange.receive(bytes, inPiecesOf: size)
        exchange.onCall = { _ in }
        return exchange
    }

    /// Checks what holds for every exchange.
    private func check(_ exchange: HTTP2Exchange) {
        let (session, callCount) = (exchange.session, exchange.callCount)
        #expect(exchange.takeOutput().count < 10_000)
        for text in exchange.lines.values.joined() {
            for line in text.split(separator: "\r\n") {
                #expect(!line.utf8.contains { $0 == 0 || $0 == 0x0D || $0 == 0x0A })
            }
        }
        if exchange.failure == nil {
            #expect(exchange.ends.count + session.streamCount <= 3)
            // The compression table may have been changed, but another PING is answered.
            for stream in [1, 3, 5] as [Int32] { session.cancel(stream) }
            #expect(session.streamCount == 0)
        }
        _ = exchange.takeOutput()
        #expect(exchange.callCount == callCount && !session.wantsToSend)
    }

    /// Returns the bytes of frames, some of which are changed, repeated, or left out.
    private func mutate(_ frames: [HTTP2Frame], _ random: inout SplitMix) -> [UInt8] {
        var frames = frames
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let index = Int.random(in: 1..<frames.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: frames.remove(at: index)
            case 1: frames.insert(frames[index], at: Int.random(in: 0..<frames.count, using: &random))
            case 2: frames[index].flags = UInt8.random(in: 0...255, using: &random)
            case 3: frames[index].stream = Int32.random(in: 0...6, using: &random)
            default: frames[index].type = UInt8.random(in: 0...11, using: &random)
            }
        }
        var bytes = frames.flatMap(\.bytes)
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 2: bytes.remove(at: index)
            default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
            }
        }
        return bytes
    }
}
