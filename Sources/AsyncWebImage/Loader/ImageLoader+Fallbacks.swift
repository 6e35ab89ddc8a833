import HTTPSemantics
import HTTPTransport
import ResponseCache
import Threading

// The URLs of a request that are requested if others have failed.
extension ImageLoader {
    /// Returns the result of a request for its URL, or for the first of its fallback URLs that succeeds; throws the last
    /// error.
    ///
    /// The time of the request's deadline began at `start`; by default, it begins now.
    func trying<Value>(
        _ request: ImageRequest, since start: Stopwatch.Instant? = nil,
        _ load: (ImageRequest) async throws -> Value
    ) async throws -> Value {
        let clock = coordinator.environment.clock
        let start = start ?? clock.now
        var current = request.withoutFallbacks
        var others = request.fallbackURLs[...]
        var failed: Set<String> = []
        while true {
            do {
                return try await load(current)
            } catch let error as ImageError where error.allowsFallback {
                guard let next = others.popFirst(), !Task.isCancelled else { throw error }
                if let deadline = request.deadline {
                    current.deadline = deadline - start.duration(to: clock.now)
                    guard let left = current.deadline, left > .zero else { throw error }
                }
                if let key = try? fetchKey(current) { failed.insert(key.resourceName) }
                current.replaceURL(by: next, of: request)
                // Under a common key, what is stored for a URL that has failed would answer.
                if let key = try? fetchKey(current), failed.contains(key.resourceName),
                    key.cachePolicy != .cacheOnly, key.cachePolicy != .noStore
                {
                    current.cachePolicy = .reload
                }
            }
        }
    }
}

extension ImageLoader {
    /// Starts a load of a request for its URL, or for the first of its fallback URLs that succeeds; `start` begins that of
    /// one URL.
    func tryingTask<Value>(
        _ request: ImageRequest, _ head: @escaping @Sendable (Value) -> ResponseHead,
        _ start: @escaping @Sendable (ImageRequest, ResponseAccess) -> LoadTask<Value>
    ) -> LoadTask<Value> {
        let (answer, response) = (OneShot<Value>(), ResponseAccess())
        let control = FallbackControl(priority: request.priority)
        Task {
            do {
                let value = try await trying(request) { current in
                    let load = start(current, response)
                    control.follow(load)
                    return try await load.value
                }
                answer.resolve(.success(value))
            } catch {
                answer.resolve(.failure(error))
            }
            control.end()
        }
        return LoadTask(request: request, answer: answer, response: response, head: head, control: control)
    }
}

extension ImageLoader {
    /// Returns the elements for the URL of a request, or for the first of its fallback URLs for which there are any.
    func tryingStream<Element: Sendable>(
        _ request: ImageRequest, _ open: @escaping @Sendable (ImageRequest) -> AsyncThrowingStream<Element, any Error>
    ) -> AsyncThrowingStream<Element, any Error> {
        let elements = FallbackElements(loader: self, request: request, open: open)
        return AsyncThrowingStream { try await elements.next() }
    }

    /// Starts a stream for the URL of a request, which is followed by those of its fallback URLs until there are elements;
    /// `start` begins that of one URL.
    func tryingStreamTask<Element: Sendable>(
        _ request: ImageRequest, _ start: @escaping @Sendable (ImageRequest, ResponseAccess) -> StreamTask<Element>
    ) -> StreamTask<Element> {
        let response = ResponseAccess()
        let control = FallbackControl(priority: request.priority)
        let time = coordinator.environment.clock.now
        let load = start(request.withoutFallbacks, response)
        control.follow(load)
        let first = Locked<StreamTask<Element>?>(load)
        let elements = FallbackElements(loader: self, request: request, since: time) { current in
            if let first = first.withLock({ $0.take() }) { return first.stream }
            let load = start(current, response)
            control.follow(load)
            return load.stream
        }
        let stream = AsyncThrowingStream<Element, any Error> {
            do {
                let element = try await elements.next()
                if element == nil { control.end() }
                return element
            } catch {
                control.end()
                throw error
            }
        }
        return StreamTask(
            request: request, stream: stream, response: response, control: control, cancel: control.cancel)
    }
}

extension ImageRequest {
    /// The request for its URL only.
    fileprivate var withoutFallbacks: ImageRequest {
        var request = self
        request.fallbackURLs = []
        return request
    }

    /// Replaces the URL; nothing that the first URL's origin may know is sent to another one.
    fileprivate mutating func replaceURL(by other: String, of request: ImageRequest) {
        url = other
        knownVersion = nil
        cachePolicy = request.cachePolicy
        let origins = (try? HTTPURL(other).origin, try? HTTPURL(request.url).origin)
        let isSameOrigin = origins.0 != nil && origins.0 == origins.1
        headerFields = isSameOrigin ? request.headerFields.withoutConditions : [:]
        credential = isSameOrigin ? request.credential : nil
    }
}

extension ImageError {
    /// A Boolean value that indicates whether another URL could have the image, and may be requested.
    fileprivate var allowsFallback: Bool {
        switch self {
        case .transport(let error):
            switch error.reason {
            case .refusedByPolicy, .cancelled: false
            default: true
            }
        case .invalidURL, .status, .unacceptableType, .emptyBody, .digestMismatch, .codec, .unsuitable: true
        case .notModified, .rejected, .unavailableDigest, .unusableCacheFolder, .overloaded, .shutDown: false
        }
    }
}
