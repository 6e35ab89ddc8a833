internal import NIOCore
internal import NIOHTTP1

internal import Glibc

/// Performs the scripts on one connection, one request after another.
///
/// Requests are parsed by NIO; responses are written as plain bytes, exactly as scripted, even if they are invalid.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = ByteBuffer

    /// The maximum number of pipelined requests; beyond it, the connection is closed.
    private static let maximumPipelinedRequests = 256
    /// The number of bytes after which other connections are served; otherwise a fast reader of an endless response
    /// would occupy the thread.
    private static let bytesPerTurn = 1 << 20
    /// The minimum time between two turns.
    private static let minimumPause = TimeAmount.microseconds(100)
    /// A process that was halted during a turn would otherwise pause for a multiple of that time.
    private static let maximumPause = TimeAmount.seconds(1)

    private let routes: Routes
    private let ledger: Ledger
    private var context: ChannelHandlerContext?
    private var connection = 0
    private var received: HTTPRequestHead?
    private var queued: [LoopbackOrigin.Request] = []
    private var current: LoopbackOrigin.Request?
    private var script: Script?
    /// The number of the waiting step, which distinguishes its wake-up from earlier ones; `nil` if no step is waiting.
    private var waiting: Int?
    private var waits = 0
    private var isWaitingForWritability = false
    /// The number of bytes written since other connections were last served.
    private var bytesInTurn = 0

    init(routes: Routes, ledger: Ledger) {
        self.routes = routes
        self.ledger = ledger
    }

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        connection = ledger.connectionOpened()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        script = nil
        queued = []
        if current != nil { ledger.answerEnded() }
        current = nil
        ledger.connectionClosed()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            received = head
        case .body:
            break
        case .end:
            guard let head = received else { return }
            received = nil
            guard queued.count < Self.maximumPipelinedRequests else { return context.close(promise: nil) }
            queued.append(record(head))
            answerNext()
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard isWaitingForWritability, context.channel.isWritable else { return }
        isWaitingForWritability = false
        // NIO calls this while it flushes, and flushes all that is written meanwhile: a client that reads more quickly
        // than the origin sends would keep it from serving others.
        wakeUp(on: context.eventLoop)()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func record(_ head: HTTPRequestHead) -> LoopbackOrigin.Request {
        let fields = HeaderFields(head.headers.map { HeaderFields.Field(name: $0.name, value: $0.value) })
        return ledger.requestReceived(path: LoopbackOrigin.Request.path(of: head.uri)) { ordinal in
            LoopbackOrigin.Request(
                method: head.method.rawValue, target: head.uri, headerFields: fields, ordinal: ordinal,
                connection: connection, isKeepAlive: head.isKeepAlive)
        }
    }

    private func answerNext() {
        guard current == nil, !queued.isEmpty else { return }
        let request = queued.removeFirst()
        current = request
        ledger.answerStarted()
        script = Script(routes.response(to: request), answering: request)
        advance()
    }

    /// Performs steps until one must wait.
    private func advance() {
        let start = NIODeadline.now()
        while let context, let request = current, waiting == nil, !isWaitingForWritability {
            if !context.channel.isWritable {
                context.flush()
                // Flushing may have closed the connection, or made room immediately.
                guard self.context != nil, !context.channel.isWritable else { continue }
                bytesInTurn = 0
                isWaitingForWritability = true
            } else if bytesInTurn >= Self.bytesPerTurn {
                bytesInTurn = 0
                // NIO runs all due tasks before it serves other connections, so each pauses for longer than the turns
                // of all of them take.
                let turns = (NIODeadline.now() - start) * ledger.counts.openConnections
                let pause = min(max(Self.minimumPause, turns), Self.maximumPause)
                context.eventLoop.scheduleTask(in: pause, wakeUp(on: context.eventLoop))
            } else if let step = script?.next() {
                perform(step, of: request, in: context)
            } else {
                return
            }
        }
    }

    private func perform(_ step: Step, of request: LoopbackOrigin.Request, in context: ChannelHandlerContext) {
        switch step {
        case .write(let bytes, let bodyBytes):
            bytesInTurn += bytes.readableBytes
            let promise = context.eventLoop.makePromise(of: Void.self)
            if bodyBytes > 0 {
                promise.futureResult.whenSuccess { [ledger] in ledger.bodySent(path: request.path, bytes: bodyBytes) }
            }
            context.write(wrapOutboundOut(bytes), promise: promise)
        case .hold(let gate):
            context.flush()
            let wakeUp = wakeUp(on: context.eventLoop)
            gate.whenOpen(wakeUp)
        case .pause(let duration):
            context.flush()
            context.eventLoop.scheduleTask(in: duration, wakeUp(on: context.eventLoop))
        case .stall:
            context.flush()
            script = nil
        case .close:
            script = nil
            whenAllIsWritten(in: context) { $0.context?.close(promise: nil) }
        case .reset:
            script = nil
            whenAllIsWritten(in: context) { $0.resetConnection() }
        case .end:
            whenAllIsWritten(in: context) { handler in
                guard handler.current != nil else { return }
                handler.current = nil
                handler.ledger.answerEnded()
                handler.answerNext()
            }
        }
    }

    /// Suspends the script and returns a closure that resumes it, from any thread.
    private func wakeUp(on eventLoop: any EventLoop) -> @Sendable () -> Void {
        waits += 1
        waiting = waits
        let handler = NIOLoopBound((self, waits), eventLoop: eventLoop)
        return {
            eventLoop.execute {
                let (handler, wait) = handler.value
                guard handler.waiting == wait else { return }
                handler.waiting = nil
                handler.advance()
            }
        }
    }

    private func whenAllIsWritten(
        in context: ChannelHandlerContext, _ action: @escaping @Sendable (ConnectionHandler) -> Void
    ) {
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).whenSuccess { action(handler.value) }
    }

    private func resetConnection() {
        guard let context, let options = context.channel as? any SocketOptionProvider else { return }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in
            handler.value.context?.close(promise: nil)
        }
    }
}
