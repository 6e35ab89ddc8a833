extension LoopbackOrigin.Response {
    /// A place in an answer on its way over the wire.
    public enum Point: Sendable, Hashable {
        /// Before any byte.
        case start
        /// In the middle of the head, between two bytes of it, behind all interim answers. For raw answers the same as
        /// `start`.
        case insideHead
        /// After that many bytes of the body, or at its end if it is shorter: before the last, empty chunk of a
        /// chunked body. `.body(0)` is between head and body.
        case body(Int)
    }

    struct Pace: Sendable {
        let bytesPerSecond: Int
        let chunk: Int
    }

    struct Interruption: Sendable {
        enum Kind: Sendable {
            case hold(Gate)
            case pause(Duration)
            case stall
            case cut
            case reset
        }

        let point: Point
        let kind: Kind
    }

    /// The body at `bytesPerSecond`, in pieces of `chunk` bytes with equal pauses between them.
    public func paced(bytesPerSecond: Int, chunk: Int = 1_024) -> Self {
        var response = self
        response.pace = Pace(bytesPerSecond: max(1, bytesPerSecond), chunk: max(1, chunk))
        return response
    }

    /// Nothing after `point` until `gate` is open.
    public func held(at point: Point, until gate: Gate) -> Self {
        interrupted(at: point, .hold(gate))
    }

    /// Nothing after `point` for as long as `duration`.
    public func paused(at point: Point, for duration: Duration) -> Self {
        interrupted(at: point, .pause(duration))
    }

    /// Nothing after `point`, ever: the connection stays open until the other side closes it.
    public func stalled(at point: Point) -> Self {
        interrupted(at: point, .stall)
    }

    /// The connection is closed at `point` (FIN).
    public func cut(at point: Point) -> Self {
        interrupted(at: point, .cut)
    }

    /// The connection is reset at `point` (RST).
    public func reset(at point: Point) -> Self {
        interrupted(at: point, .reset)
    }

    private func interrupted(at point: Point, _ kind: Interruption.Kind) -> Self {
        var response = self
        response.interruptions.append(Interruption(point: point, kind: kind))
        return response
    }
}
