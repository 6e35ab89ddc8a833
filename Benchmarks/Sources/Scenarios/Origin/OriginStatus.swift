/// The status of an origin, in the format of nginx's `stub_status`.
///
/// The connection that requests the status counts as open, and its request as running.
struct OriginStatus: Hashable, Sendable {
    /// Connections that are open.
    let openConnections: Int
    /// Requests received since the start.
    let requests: Int
    /// Answers that are not yet sent to the last byte.
    let runningRequests: Int

    /// Nil unless there are the seven numbers of a status: open connections, accepted and handled ones, requests;
    /// connections being read from, written to, and idle.
    init?(_ text: String) {
        let numbers = text.split { !$0.isNumber }.compactMap { Int($0) }
        guard numbers.count == 7 else { return nil }
        openConnections = numbers[0]
        requests = numbers[3]
        runningRequests = numbers[5]
    }

    /// The same text of other counts.
    static func text(openConnections: Int, accepted: Int, requests: Int, running: Int) -> String {
        """
        Active connections: \(openConnections)
        server accepts handled requests
         \(accepted) \(accepted) \(requests)
        Reading: 0 Writing: \(running) Waiting: \(openConnections - running)

        """
    }
}

extension Origin {
    /// The path at which it is served.
    static let statusName = "status"

    /// Returns the current counts without those of the status request itself.
    func status() throws -> (openConnections: Int, runningRequests: Int, requests: Int) {
        let answer = try LoopbackSocket.answer(to: "GET /\(Self.statusName) HTTP/1.0\r\n\r\n", port: port)
        guard let end = answer.firstRange(of: "\r\n\r\n"), let status = OriginStatus(String(answer[end.upperBound...]))
        else { throw OriginError(description: "the origin does not tell its status: \(answer)") }
        return (status.openConnections - 1, status.runningRequests - 1, status.requests)
    }
}
