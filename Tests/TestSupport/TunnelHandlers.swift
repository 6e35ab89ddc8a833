internal import NIOCore
internal import NIOPosix

/// Reads the request for a tunnel and handles it as `decide` determines.
final class TunnelRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let maximumBytes = 16 << 10

    private let decide: @Sendable (ConnectProxy.Request) -> ConnectProxy.Answer
    private var head = ""

    init(decide: @escaping @Sendable (ConnectProxy.Request) -> ConnectProxy.Answer) {
        self.decide = decide
    }

    func channelActive(context: ChannelHandlerContext) { context.read() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        head += String(buffer: unwrapInboundIn(data))
        // Clients send nothing more until they are answered.
        guard head.hasSuffix("\r\n\r\n") else {
            return head.utf8.count < Self.maximumBytes ? context.read() : context.close(promise: nil)
        }
        guard let request = ConnectProxy.Request(head) else { return context.close(promise: nil) }
        head = ""
        switch decide(request) {
        case .tunnel: openTunnel(to: request.target, context)
        case .refusal(let status): refuse(status, context)
        case .silence: break
        }
    }

    private func refuse(_ status: Int, _ context: ChannelHandlerContext) {
        let challenge = status == 407 ? "Proxy-Authenticate: Basic realm=\"proxy\"\r\n" : ""
        write("HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\(challenge)\r\n", context)
        context.read()
    }

    private func openTunnel(to target: String, _ context: ChannelHandlerContext) {
        guard let port = target.split(separator: ":").last.flatMap({ Int($0) }) else { return refuse(400, context) }
        let client = context.channel
        ClientBootstrap(group: client.eventLoop)
            .channelOption(.autoRead, value: false)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(TunnelEnd(other: client))
                }
            }
            .connect(host: "127.0.0.1", port: port)
            .assumeIsolated().whenComplete { result in
                guard case .success(let server) = result else { return self.refuse(502, context) }
                self.write("HTTP/1.1 200 Connected\r\n\r\n", context)
                do {
                    try client.pipeline.syncOperations.addHandler(TunnelEnd(other: server))
                    client.pipeline.syncOperations.removeHandler(self, promise: nil)
                    for end in [client, server] { end.read() }
                } catch {
                    for end in [client, server] { end.close(promise: nil) }
                }
            }
    }

    private func write(_ text: String, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
    }
}

/// One end of a tunnel: passes received data to the other end, and continues reading when that has taken it.
final class TunnelEnd: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel

    init(other: any Channel) { self.other = other }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        other.write(unwrapInboundIn(data), promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        let channel = context.channel
        other.writeAndFlush(ByteBuffer()).whenComplete { _ in channel.read() }
    }

    func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
