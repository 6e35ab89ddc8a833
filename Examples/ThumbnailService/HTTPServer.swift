import FoundationEssentials
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix

/// A request of a client; its body is not kept.
struct ServerRequest: Sendable {
    var method = "GET"
    /// The path and the query.
    var target: String
    var fields: HTTPFields = [:]

    var path: String { URLComponents(string: target)?.path ?? "" }

    /// Returns the values of a parameter in the query.
    func all(_ name: String) -> [String] {
        (URLComponents(string: target)?.queryItems ?? []).filter { $0.name == name }.compactMap(\.value)
    }

    subscript(_ name: String) -> String? { all(name).first }
}

/// A response to a client.
struct ServerResponse: Sendable {
    var status = 200
    var fields: HTTPFields = [:]
    var body: [UInt8] = []
    /// A closure that writes the body in pieces, instead of `body`; if it fails, the connection is closed.
    var stream: (@Sendable (_ write: ([UInt8]) async throws -> Void) async throws -> Void)?
}

/// An HTTP/1.1 server on SwiftNIO, for use behind a reverse proxy: it has no limits on time and connections.
struct HTTPServer: Sendable {
    typealias Handler = @Sendable (ServerRequest) async -> ServerResponse
    private typealias Connection = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>

    private let listener: NIOAsyncChannel<Connection, Never>

    /// The port on which the server listens.
    var port: Int { listener.channel.localAddress?.port ?? 0 }

    /// Creates a server that listens on `port`; 0 for any.
    init(host: String = "127.0.0.1", port: Int) async throws {
        listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .bind(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    // Without assistance, the channel is read while a request is answered, and notices its end.
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: false)
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
    }

    /// Answers requests until the task is canceled.
    func run(_ answer: @escaping Handler) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            try await listener.executeThenClose { connections in
                for try await connection in connections {
                    group.addTask { try? await Self.serve(connection, answer) }
                }
            }
        }
    }

    /// Answers the requests of one connection in order; if the client closes it, the task of the answer is canceled.
    private static func serve(_ connection: Connection, _ answer: @escaping Handler) async throws {
        let task = Task {
            try await connection.executeThenClose { requests, responses in
                var head: HTTPRequestHead?
                for try await part in requests {
                    if case .head(let received) = part { head = received }
                    guard case .end = part, let head else { continue }
                    let fields = head.headers.compactMap { name, value in
                        HTTPField.Name(name).map { HTTPField(name: $0, value: value) }
                    }
                    let request = ServerRequest(
                        method: head.method.rawValue, target: head.uri, fields: HTTPFields(fields))
                    try await write(answer(request), withBody: head.method != .HEAD, to: responses)
                    guard head.isKeepAlive else { return }
                }
            }
        }
        connection.channel.closeFuture.whenComplete { _ in task.cancel() }
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private static func write(
        _ response: ServerResponse, withBody hasBody: Bool,
        to channel: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>
    ) async throws {
        var headers = HTTPHeaders(response.fields.map { ($0.name.rawName, $0.value) })
        let status = HTTPResponseStatus(statusCode: response.status)
        if response.stream == nil, status.mayHaveResponseBody {
            headers.add(name: "Content-Length", value: "\(response.body.count)")
        }
        try await channel.write(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers)))
        if hasBody, let stream = response.stream {
            try await stream { try await channel.write(.body(.byteBuffer(ByteBuffer(bytes: $0)))) }
        } else if hasBody {
            try await channel.write(.body(.byteBuffer(ByteBuffer(bytes: response.body))))
        }
        try await channel.write(.end(nil))
    }
}
