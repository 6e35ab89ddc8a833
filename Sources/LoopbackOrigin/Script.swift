internal import NIOCore

/// What a connection does next.
enum Step {
    /// Write the bytes, `bodyBytes` of which are the body's.
    case write(ByteBuffer, bodyBytes: Int)
    case hold(Gate)
    case pause(TimeAmount)
    /// Do nothing until the other side closes the connection.
    case stall
    /// Close (FIN) after everything written has left.
    case close
    /// Close by RST after everything written has left.
    case reset
    /// The answer is complete and the connection ready for the next request.
    case end
}

/// The steps that perform a response, each made when it is asked for, so that a response without an end takes no memory.
struct Script {
    private enum Section {
        case steps([Step])
        /// Bytes that are not the body's.
        case pieces(BytePieces)
        case body(BodyScript)
    }

    private var sections: ArraySlice<Section>
    private var ready: ArraySlice<Step> = []

    init(_ response: LoopbackOrigin.Response, answering request: LoopbackOrigin.Request) {
        var sections: [Section] = [.steps(response.interruptions(at: .start))]
        if response.framing == .raw {
            sections.append(.steps(response.interruptions(at: .insideHead)))
        } else {
            sections.append(.steps([.write(ByteBuffer(string: response.interimHeads), bodyBytes: 0)]))
            sections.append(.pieces(BytePieces(response.interimFlood)))
            sections.append(.steps(response.headSteps(answering: request)))
        }
        if request.method == "HEAD" || response.hasNoBody {
            sections.append(.steps(response.interruptions(at: .body(0))))
        } else {
            sections.append(.body(BodyScript(response)))
            if response.framing == .chunked, response.chunkFormat.hasLastChunk {
                sections.append(.steps([.write(ByteBuffer(string: "0\r\n"), bodyBytes: 0)]))
                sections.append(.pieces(BytePieces(response.trailers)))
                sections.append(.steps([.write(ByteBuffer(string: "\r\n"), bodyBytes: 0)]))
            }
        }
        sections.append(.steps([response.closesConnection(after: request) ? .close : .end]))
        self.sections = sections[...]
    }

    /// The next step; nil behind the last one.
    mutating func next() -> Step? {
        while ready.isEmpty {
            guard let section = sections.popFirst() else { return nil }
            switch section {
            case .steps(let steps):
                ready = steps[...]
            case .pieces(var pieces):
                guard let (bytes, pause) = pieces.next() else { continue }
                ready = (pause.map { [.pause($0)] } ?? []) + [.write(bytes, bodyBytes: 0)]
                sections.insert(.pieces(pieces), at: sections.startIndex)
            case .body(var body):
                guard let steps = body.next() else { continue }
                ready = steps[...]
                sections.insert(.body(body), at: sections.startIndex)
            }
        }
        return ready.popFirst()
    }
}

/// The steps that send a body, piece by piece.
private struct BodyScript {
    private let response: LoopbackOrigin.Response
    private var pieces: BytePieces
    /// The places of interruptions that lie ahead.
    private var stops: ArraySlice<Int>
    private var offset = 0
    private let pieceSize: Int

    init(_ response: LoopbackOrigin.Response) {
        self.response = response
        pieces = BytePieces(response.parts)
        stops = response.stops[...]
        let chunkSize = response.framing == .chunked ? max(1, response.chunkFormat.maximumSize) : .max
        pieceSize = min(response.pace?.chunk ?? .max, chunkSize)
    }

    /// The steps up to the end of the next piece; nil at the end of the body.
    mutating func next() -> [Step]? {
        if let stop = stops.first, stop == offset {
            stops.removeFirst()
            return response.interruptions(at: .body(stop))
        }
        let isFirst = offset == 0
        guard let (bytes, pause) = pieces.next(limit: min(pieceSize, (stops.first ?? .max) - offset)) else {
            return nil
        }
        offset += bytes.readableBytes
        var steps: [Step] = []
        if let pause {
            steps.append(.pause(pause))
        } else if !isFirst, let pace = response.pace {
            let nanoseconds = 1_000_000_000.0 * Double(bytes.readableBytes) / Double(pace.bytesPerSecond)
            steps.append(.pause(.nanoseconds(Int64(nanoseconds))))
        }
        let framed = response.framing == .chunked ? response.chunkFormat.chunk(bytes) : bytes
        steps.append(.write(framed, bodyBytes: bytes.readableBytes))
        return steps
    }
}

extension LoopbackOrigin.Response {
    /// The interruptions at `point`, each once, in the order in which they were scripted.
    func interruptions(at point: Point) -> [Step] {
        interruptions.filter { matches($0.point, point) }.map { interruption in
            switch interruption.kind {
            case .hold(let gate): .hold(gate)
            case .pause(let duration): .pause(TimeAmount(duration))
            case .stall: .stall
            case .cut: .close
            case .reset: .reset
            }
        }
    }

    private func matches(_ scripted: Point, _ point: Point) -> Bool {
        if let stop = stop(of: scripted) { .body(stop) == point } else { scripted == point }
    }

    /// Where in the body `point` is, or nil if it is before the body.
    private func stop(of point: Point) -> Int? {
        guard case .body(let offset) = point else { return nil }
        return min(max(0, offset), bodyLength ?? .max)
    }

    /// The places in the body at which something is scripted, in order.
    fileprivate var stops: [Int] { Set(interruptions.compactMap { stop(of: $0.point) }).sorted() }
}
