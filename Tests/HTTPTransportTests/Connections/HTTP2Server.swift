import Glibc
import HTTPTransport
import TestSupport
import Threading

/// A server with TLS on 127.0.0.1 whose answers and failures are those that a test demands.
///
/// All closures are called on its thread, to which its connections are confined.
final class HTTP2Server: @unchecked Sendable {
    /// A request that has arrived.
    struct Request: Sendable {
        let connection: Int
        let stream: Int32
        let path: String
        let fields: [String: String]
    }

    /// The events on a server so far.
    struct Record: Sendable {
        /// The number of connections that were accepted.
        var accepted = 0
        /// The number of them for which TLS was negotiated.
        var established = 0
        /// The numbers of the connections that the client has closed.
        var closed: Set<Int> = []
        var requests: [Request] = []
        /// The codes with which the client has ended streams, by connection and stream.
        var resets: [[Int]: UInt32] = [:]
        /// The connections on which the client has acknowledged a ping.
        var pongs: [Int] = []

        /// The number of connections over which requests have arrived.
        var usedConnections: Int { Set(requests.map(\.connection)).count }

        func count(of path: String) -> Int { requests.count { $0.path == path } }
    }

    struct Failure: Error {}

    typealias Handler = (HTTP2ServerConnection, Int32, String) -> Void

    let port: Int
    let record = Awaited(Record())
    fileprivate let settings: ServerSettings
    fileprivate let maximumStreams: UInt32?
    fileprivate let handler: Handler
    /// Handles a new connection, before its first step.
    fileprivate let accepted: (HTTP2ServerConnection) -> Void
    private let listener: Int32
    private let wakes: [Int32]
    private let work = Locked<[@Sendable (HTTP2Server) -> Void]>([])
    /// The connections in the order in which they were accepted; used on the thread only.
    private(set) var connections: [HTTP2ServerConnection] = []

    init(
        _ certificate: TestCertificate, protocol chosen: String = "h2", maximumStreams: UInt32? = nil,
        version: Int32? = nil, accepted: @escaping (HTTP2ServerConnection) -> Void = { _ in },
        _ handler: @escaping Handler
    ) throws {
        settings = ServerSettings(certificate, version: version, chosenProtocol: chosen, heedsOffer: true)
        (self.maximumStreams, self.accepted, self.handler) = (maximumStreams, accepted, handler)
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let status = withUnsafeMutableBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { address in
                bind(listener, address.baseAddress, length) | listen(listener, 512)
                    | getsockname(listener, address.baseAddress, &length)
            }
        }
        var pair: [Int32] = [0, 0]
        guard status == 0, socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0 else {
            throw Failure()
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        wakes = pair
        try startThread(named: "http2-server") { [weak self, wakes] in
            while let events = Self.wait({ self }) { self?.handle(events) }
            for descriptor in [listener] + wakes { close(descriptor) }
        }
    }

    deinit {
        shutdown(wakes[1], Int32(SHUT_RDWR))
        for connection in connections { connection.close() }
    }

    /// The URL of a path of the server.
    func url(_ path: String, host: String = "127.0.0.1") -> String { "https://\(host):\(port)\(path)" }

    /// Performs `body` on the thread.
    func perform(_ body: @escaping @Sendable (HTTP2Server) -> Void) {
        work.withLock { $0.append(body) }
        send(wakes[1], [0], 1, Int32(MSG_NOSIGNAL))
    }

    /// Returns when the record satisfies `isSatisfied`.
    func wait(until isSatisfied: @escaping @Sendable (Record) -> Bool) async { await record.wait(until: isSatisfied) }

    /// Waits without a reference to the server; returns `nil` if it is gone.
    private static func wait(_ server: () -> HTTP2Server?) -> [pollfd]? {
        guard var polls = server()?.polls else { return nil }
        return poll(&polls, nfds_t(polls.count), -1) >= 0 && polls[0].revents & Int16(POLLHUP) == 0 ? polls : nil
    }

    private var polls: [pollfd] {
        [wakes[0], listener].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            + connections.filter { !$0.isClosed }.map {
                let events = ($0.isStalled ? 0 : POLLIN) | ($0.hasOutput ? POLLOUT : 0)
                return pollfd(fd: $0.descriptor, events: Int16(events), revents: 0)
            }
    }

    private func takeWork() -> [@Sendable (HTTP2Server) -> Void] {
        work.withLock { work in
            defer { work = [] }
            return work
        }
    }

    private func handle(_ events: [pollfd]) {
        if events[0].revents != 0 {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            _ = recv(wakes[0], &buffer, buffer.count, Int32(MSG_DONTWAIT))
        }
        if events[1].revents != 0 {
            let descriptor = accept(listener, nil, nil)
            if descriptor >= 0 {
                _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
                let connection = HTTP2ServerConnection(connections.count, descriptor, of: self)
                connections.append(connection)
                record.update { $0.accepted += 1 }
                accepted(connection)
            }
        }
        for event in events.dropFirst(2) where event.revents != 0 {
            connections.last { $0.descriptor == event.fd && !$0.isClosed }?.step()
        }
        for body in takeWork() { body(self) }
        for connection in connections where !connection.isClosed { connection.flush() }
    }
}

extension HTTP2ServerConnection {
    /// Calls the server's handler.
    func handle(_ stream: Int32, _ path: String) { server?.handler(self, stream, path) }

    static func settings(of server: HTTP2Server) -> (ServerSettings, UInt32?) {
        (server.settings, server.maximumStreams)
    }
}
