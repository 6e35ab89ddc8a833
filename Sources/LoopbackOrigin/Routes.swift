internal import Threading

/// The responses by path.
final class Routes: Sendable {
    typealias Handler = @Sendable (LoopbackOrigin.Request) -> LoopbackOrigin.Response

    private let handlers = Locked([String: Handler]())

    func set(_ path: String, _ handler: @escaping Handler) {
        handlers.withLock { $0[path] = handler }
    }

    /// Removes all responses: one held at an unopened gate would otherwise form a reference cycle with it.
    func removeAll() {
        handlers.withLock { $0 = [:] }
    }

    /// Returns the response for the target, else for the path, else for the longest matching `prefix*`, else 404.
    func response(to request: LoopbackOrigin.Request) -> LoopbackOrigin.Response {
        let path = request.path
        let handler = handlers.withLock { handlers in
            handlers[request.target] ?? handlers[path] ?? Self.longestPrefix(of: path, in: handlers)
        }
        return handler?(request)
            ?? LoopbackOrigin.Response(
                status: 404, headerFields: ["Content-Type": "text/plain"], body: Array("nothing at \(path)\n".utf8))
    }

    private static func longestPrefix(of path: String, in handlers: [String: Handler]) -> Handler? {
        handlers.filter { $0.key.hasSuffix("*") && path.hasPrefix($0.key.dropLast()) }
            .max { $0.key.utf8.count < $1.key.utf8.count }?.value
    }
}
