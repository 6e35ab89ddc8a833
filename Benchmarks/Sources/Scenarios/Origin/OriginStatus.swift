/// The status of an origin, in the format of nginx's `stub_status`.
///
/// The connection that requests the status counts as open, and its request as running.
struct OriginStatus: Hashable, Sendable {
    /// The number of open connections.
    let openConnections: Int
    /// The number of requests received since the start.
    let requests: Int
    /// The number of requests whose response is not completely sent.
    let runningRequests: Int

    /// Creates a status from `text`, or returns `nil` unless it contains seven numbers.
    ///
    /// They are the numbers of open, accepted, and handled connections, of requests, and of connections that are being
    /// read from, being written to, and idle.
    init?(_ text: String) {
        let numbers = text.split { !$0.isNumber }.compactMap { Int($0) }
        guard numbers.count == 7 else { return nil }
        openConnections = numbers[0]
        requests = numbers[3]
        runningRequests = numbers[5]
    }

    /// Returns the text of a status with these counts.
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
    /// The name of the status in URLs.
    static let statusName = "status"

    /// Returns the current counts, of which only `requests` includes the request of the status itself.
    func status() throws -> (openConnections: Int, runningRequests: Int, requests: Int) {
        let answer = try LoopbackSocket.answer(to: "GET /\(Self.statusName) HTTP/1.0\r\n\r\n", port: port)
        guard let end = answer.firstRange(of: "\r\n\r\n"), let status = OriginStatus(String(answer[end.upperBound...]))
        else { throw OriginError(description: "the origin did not report its status: \(answer)") }
        return (status.openConnections - 1, status.runningRequests - 1, status.requests)
    }
}
