internal import NIOCore

/// The next action of a connection.
enum Step {
    /// Write the bytes, `bodyBytes` of which are the body's.
    case write(ByteBuffer, bodyBytes: Int)
    case hold(Gate)
    case pause(TimeAmount)
    /// Do nothing until the client closes the connection.
    case stall
    /// Close the connection (FIN) after everything written has been sent.
    case close
    /// Reset the connection (RST) after everything written has been sent.
    case reset
    /// The response is complete and the connection ready for the next request.
    case end
}

/// The steps that perform a response, created on demand, so that an endless response takes no memory.
struct Script {
    private enum Section {
        case steps([Step])
        /// Bytes that are not part of the body.
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

    /// Returns the next step; `nil` after the last one.
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
    /// The positions of interruptions still ahead.
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

    /// Returns the steps up to the end of the next piece; `nil` at the end of the body.
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
    /// Returns the interruptions at `point`, each once, in the order in which they were scripted.
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

    /// Returns the position of `point` in the body, or `nil` if it is before the body.
    private func stop(of point: Point) -> Int? {
        guard case .body(let offset) = point else { return nil }
        return min(max(0, offset), bodyLength ?? .max)
    }

    /// The positions in the body with interruptions, in order.
    fileprivate var stops: [Int] { Set(interruptions.compactMap { stop(of: $0.point) }).sorted() }
}
