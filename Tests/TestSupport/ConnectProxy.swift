import Foundation
internal import NIOCore
internal import NIOPosix
internal import Threading

/// An HTTP proxy on 127.0.0.1 that makes tunnels by CONNECT (RFC 9110, section 9.3.6), and nothing else.
///
/// Every tunnel leads to that local port, regardless of its host: names need not exist.
package final class ConnectProxy: Sendable {
    /// The reaction to a tunnel request.
    package enum Answer: Sendable {
        case tunnel
        case refusal(status: Int)
        /// No response.
        case silence
    }

    /// The head of a request, whatever its method.
    package struct Request: Sendable {
        package let method: String
        /// The host and its port: `photos.example:443`.
        package let target: String
        /// The header fields by lowercase name; of several with the same name, the last one.
        package let headerFields: [String: String]
    }

    package let port: Int

    private let group: MultiThreadedEventLoopGroup
    private let ledger: Locked<[Request]>

    private init(port: Int, group: MultiThreadedEventLoopGroup, ledger: Locked<[Request]>) {
        self.port = port
        self.group = group
        self.ledger = ledger
    }

    /// Starts a proxy on a free port; requests without `user` and `password` get 407, if there is a user.
    fileprivate static func start(_ answer: Answer, user: String?, password: String) throws -> ConnectProxy {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let ledger = Locked<[Request]>([])
        let credential = user.map { "Basic " + Data("\($0):\(password)".utf8).base64EncodedString() }
        let decide: @Sendable (Request) -> Answer = { request in
            ledger.withLock { if $0.count < maximumRecordedRequests { $0.append(request) } }
            guard request.method == "CONNECT" else { return .refusal(status: 405) }
            guard credential == nil || request.headerFields["proxy-authorization"] == credential else {
                return .refusal(status: 407)
            }
            return answer
        }
        let channel = try ServerBootstrap(group: group)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(TunnelRequestHandler(decide: decide))
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()
        return ConnectProxy(port: channel.localAddress?.port ?? 0, group: group, ledger: ledger)
    }

    private static let maximumRecordedRequests = 1_000

    /// The requests in the order of their arrival.
    package var requests: [Request] { ledger.withLock { $0 } }

    fileprivate func stop() async { try? await group.shutdownGracefully() }
}

/// Runs `body` with a proxy that is stopped, and its tunnels with it, when it returns or throws.
package func withConnectProxy(
    _ answer: ConnectProxy.Answer = .tunnel, user: String? = nil, password: String = "",
    _ body: (ConnectProxy) async throws -> Void
) async throws {
    let proxy = try ConnectProxy.start(answer, user: user, password: password)
    do {
        try await body(proxy)
        await proxy.stop()
    } catch {
        await proxy.stop()
        throw error
    }
}

extension ConnectProxy.Request {
    /// Creates a request, or `nil` if `head` is not a request head.
    init?(_ head: String) {
        let lines = head.split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3 else { return nil }
        method = String(words[0])
        target = String(words[1])
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
        }
        headerFields = fields
    }
}
