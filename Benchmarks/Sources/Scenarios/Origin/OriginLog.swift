/// The requests that an origin has logged, one per line.
///
/// The format is that of ``format`` in nginx.
struct OriginLog: Hashable, Sendable {
    /// The variables of a line: the number of the connection, `r` if its TLS session was resumed, the status, and the
    /// versions of HTTP and TLS.
    static let format = "$connection $ssl_session_reused $status $server_protocol $ssl_protocol"

    /// The number of requests with the status 200.
    let successes: Int
    /// The number of connections with requests.
    let connections: Int
    /// The number of these connections whose TLS session was resumed.
    let resumed: Int
    /// The versions of HTTP, each with that of TLS, in alphabetical order.
    let versions: [String]

    /// Creates a summary of complete lines, or returns `nil` if one of them has another format.
    init?(_ text: String) {
        var successes = 0
        var connections: [Substring: Bool] = [:]
        var versions: Set<String> = []
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count == 5, fields[1] == "r" || fields[1] == "." else { return nil }
            connections[fields[0]] = fields[1] == "r"
            if fields[2] == "200" { successes += 1 }
            versions.insert("\(fields[3]) \(fields[4])")
        }
        self.successes = successes
        self.connections = connections.count
        resumed = connections.values.count { $0 }
        self.versions = versions.sorted()
    }

    /// Returns what the origin has logged beyond the first `offset` bytes, once that is `requests` lines.
    ///
    /// nginx logs a request when it has sent the last byte, which can be after the client has received it. After some
    /// seconds, the result has fewer lines.
    static func read(_ path: String, from offset: Int, requests: Int) async throws -> OriginLog {
        let deadline = ContinuousClock.now + .seconds(5)
        while true {
            let text = String(decoding: try File.read(path).dropFirst(offset), as: UTF8.self)
            let isComplete = text.utf8.count { $0 == UInt8(ascii: "\n") } >= requests
            if isComplete || ContinuousClock.now > deadline {
                guard let log = OriginLog(text) else {
                    throw OriginError(description: "the origin's log has another format: \(text.prefix(100))")
                }
                return log
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}
