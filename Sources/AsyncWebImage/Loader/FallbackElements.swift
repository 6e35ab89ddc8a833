import Threading

/// The elements for the URL of a request, or for the first of its fallback URLs for which there are any.
///
/// The next URL is requested only while no element has been delivered.
final class FallbackElements<Element: Sendable>: Sendable {
    private enum State {
        case searching
        case found(AsyncThrowingStream<Element, any Error>)
        case ended
    }

    private let loader: ImageLoader
    private let request: ImageRequest
    private let start: Stopwatch.Instant?
    private let open: @Sendable (ImageRequest) -> AsyncThrowingStream<Element, any Error>
    private let state = Locked(State.searching)

    /// Creates the elements of the streams that `open` returns for each URL.
    ///
    /// The time of the request's deadline began at `start`; by default, it begins with the first call of ``next()``.
    init(
        loader: ImageLoader, request: ImageRequest, since start: Stopwatch.Instant? = nil,
        open: @escaping @Sendable (ImageRequest) -> AsyncThrowingStream<Element, any Error>
    ) {
        (self.loader, self.request, self.start, self.open) = (loader, request, start, open)
    }

    /// Returns the next element; `nil` at the end, and after an error.
    func next() async throws -> Element? {
        switch state.withLock({ $0 }) {
        case .found(let stream): return try await stream.next()
        case .ended: return nil
        case .searching: break
        }
        do {
            return try await loader.trying(request, since: start) { current in
                let stream = open(current)
                let first = try await stream.next()
                state.withLock { $0 = .found(stream) }
                return first
            }
        } catch {
            state.withLock { $0 = .ended }
            throw error
        }
    }
}

extension AsyncThrowingStream where Failure == any Error {
    /// Returns the next element; `nil` at the end.
    fileprivate func next() async throws -> Element? {
        for try await element in self { return element }
        return nil
    }
}
