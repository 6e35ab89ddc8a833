extension LoopbackOrigin.Response {
    /// A position in a response as it is sent.
    public enum Point: Sendable, Hashable {
        /// Before the first byte.
        case start
        /// In the middle of the response head, after all interim responses. For raw responses, the same as `start`.
        case insideHead
        /// After this number of bytes of the body, or at its end if it is shorter: before the last, empty chunk of a
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

    /// Returns a response whose body is sent at `bytesPerSecond`, in pieces of `chunk` bytes with equal pauses.
    public func paced(bytesPerSecond: Int, chunk: Int = 1_024) -> Self {
        var response = self
        response.pace = Pace(bytesPerSecond: max(1, bytesPerSecond), chunk: max(1, chunk))
        return response
    }

    /// Returns a response that sends nothing after `point` until `gate` is open.
    public func held(at point: Point, until gate: Gate) -> Self {
        interrupted(at: point, .hold(gate))
    }

    /// Returns a response that pauses at `point` for `duration`.
    public func paused(at point: Point, for duration: Duration) -> Self {
        interrupted(at: point, .pause(duration))
    }

    /// Returns a response that sends nothing after `point` and keeps the connection open until the client closes it.
    public func stalled(at point: Point) -> Self {
        interrupted(at: point, .stall)
    }

    /// Returns a response that closes the connection at `point` (FIN).
    public func cut(at point: Point) -> Self {
        interrupted(at: point, .cut)
    }

    /// Returns a response that resets the connection at `point` (RST).
    public func reset(at point: Point) -> Self {
        interrupted(at: point, .reset)
    }

    private func interrupted(at point: Point, _ kind: Interruption.Kind) -> Self {
        var response = self
        response.interruptions.append(Interruption(point: point, kind: kind))
        return response
    }
}
