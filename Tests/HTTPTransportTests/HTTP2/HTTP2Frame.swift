/// A frame of HTTP/2, valid or not (RFC 9113, section 4.1).
struct HTTP2Frame {
    var type: UInt8
    var flags: UInt8 = 0
    var stream: Int32 = 0
    var payload: [UInt8] = []
    /// The length that the frame states, if it differs from the payload's.
    var statedLength: Int?

    static let endStream: UInt8 = 0x1
    static let acknowledgment: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4
    static let padded: UInt8 = 0x8

    var bytes: [UInt8] {
        let length = statedLength ?? payload.count
        return [UInt8(truncatingIfNeeded: length >> 16), UInt8(truncatingIfNeeded: length >> 8)]
            + [UInt8(truncatingIfNeeded: length), type, flags] + Self.number(UInt32(bitPattern: stream)) + payload
    }

    static func data(_ payload: [UInt8], _ flags: UInt8 = 0, stream: Int32 = 1) -> Self {
        Self(type: 0, flags: flags, stream: stream, payload: payload)
    }

    static func headers(_ fields: [(String, String)], _ flags: UInt8 = endHeaders, stream: Int32 = 1) -> Self {
        Self(type: 1, flags: flags, stream: stream, payload: block(fields.map { ($0, Array($1.utf8)) }))
    }

    static func priority(stream: Int32 = 1) -> Self { Self(type: 2, stream: stream, payload: [0, 0, 0, 3, 16]) }

    static func reset(_ code: UInt32, stream: Int32 = 1) -> Self {
        Self(type: 3, stream: stream, payload: number(code))
    }

    static func settings(_ entries: [(UInt16, UInt32)] = []) -> Self {
        Self(type: 4, payload: entries.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] + number($1) })
    }

    static let settingsAcknowledgment = Self(type: 4, flags: acknowledgment)
    static let ping = Self(type: 6, payload: Array(repeating: 0, count: 8))

    static func goAway(lastStream: Int32, _ code: UInt32 = 0) -> Self {
        Self(type: 7, payload: number(UInt32(bitPattern: lastStream)) + number(code))
    }

    static func windowUpdate(_ increment: UInt32, stream: Int32 = 0) -> Self {
        Self(type: 8, stream: stream, payload: number(increment))
    }

    static func continuation(_ payload: [UInt8] = [], _ flags: UInt8 = 0, stream: Int32 = 1) -> Self {
        Self(type: 9, flags: flags, stream: stream, payload: payload)
    }

    /// Returns a header block of literal fields that are not indexed (RFC 7541, section 6.2.2).
    static func block(_ fields: [(name: String, value: [UInt8])]) -> [UInt8] {
        fields.flatMap { [0] + string(Array($0.utf8)) + string($1) }
    }

    /// Returns a string literal (RFC 7541, section 5.2).
    static func string(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
        var length: [UInt8] = [127]
        var rest = bytes.count - 127
        while rest >= 128 {
            length.append(UInt8(rest % 128 + 128))
            rest /= 128
        }
        return length + [UInt8(rest)] + bytes
    }

    private static func number(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }
}

extension HTTP2Exchange {
    /// Passes frames to the session, in pieces of `size` bytes.
    func receive(_ frames: HTTP2Frame..., inPiecesOf size: Int = .max) {
        receive(frames.flatMap(\.bytes), inPiecesOf: size)
    }

    /// Creates an exchange in which a number of streams are open, and the peer's settings have arrived.
    static func open(streams: Int = 1) throws -> HTTP2Exchange {
        let exchange = try HTTP2Exchange()
        for _ in 0..<streams { _ = try exchange.open() }
        _ = exchange.takeOutput()
        exchange.receive(.settings(), .settingsAcknowledgment)
        _ = exchange.takeOutput()
        return exchange
    }
}
