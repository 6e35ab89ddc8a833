// Many results of one kind.
extension ImageLoader {
    /// Loads the images of `requests`, and calls `consume` with the result for each, as many at a time as are active.
    ///
    /// At most `maximumActive` images are being received, decoded, or consumed at a time, apart from those from a cache,
    /// so that memory is bounded for a sequence of any length, and for a consumer of any pace; see
    /// ``forEach(_:maximumActive:maximumOpen:inOrder:_:)``.
    ///
    /// ```swift
    /// let requests = urls.lazy.map { ImageRequest($0, maximumSide: 256) }
    /// try await loader.images(for: requests, maximumActive: 16) { request, result in
    ///     switch result {
    ///     case .success(let response): print(request.url, response.pixels.size)
    ///     case .failure(let error): print(request.url, error)
    ///     }
    /// }
    /// ```
    ///
    /// With `inOrder`, results are consumed one at a time, in the order of the requests; otherwise concurrently, in the
    /// order of their completion. The error of one image is a result; an error of `consume` cancels the others and is
    /// thrown. Throws `CancellationError` if the task is canceled.
    public func images<Requests: Sequence<ImageRequest>>(
        for requests: Requests, maximumActive: Int, inOrder: Bool = false,
        _ consume: @escaping @Sendable (ImageRequest, Result<ImageResponse, any Error>) async throws -> Void
    ) async throws {
        try await results(for: requests, maximumActive, inOrder, { try await self.image(for: $0) }, consume)
    }

    /// Loads the animations of `requests`, as ``images(for:maximumActive:inOrder:_:)`` does for images.
    public func animations<Requests: Sequence<ImageRequest>>(
        for requests: Requests, maximumActive: Int, inOrder: Bool = false,
        _ consume: @escaping @Sendable (ImageRequest, Result<AnimationResponse, any Error>) async throws -> Void
    ) async throws {
        try await results(for: requests, maximumActive, inOrder, { try await self.animation(for: $0) }, consume)
    }

    /// Loads the undecoded bodies of `requests`, as ``images(for:maximumActive:inOrder:_:)`` does for images.
    public func data<Requests: Sequence<ImageRequest>>(
        for requests: Requests, maximumActive: Int, inOrder: Bool = false,
        _ consume: @escaping @Sendable (ImageRequest, Result<ResponseBody, any Error>) async throws -> Void
    ) async throws {
        try await results(for: requests, maximumActive, inOrder, { try await self.data(for: $0) }, consume)
    }

    /// Loads the properties of the files of `requests`, as ``images(for:maximumActive:inOrder:_:)`` does for images.
    public func info<Requests: Sequence<ImageRequest>>(
        for requests: Requests, maximumActive: Int, inOrder: Bool = false,
        _ consume: @escaping @Sendable (ImageRequest, Result<ImageInfo, any Error>) async throws -> Void
    ) async throws {
        try await results(for: requests, maximumActive, inOrder, { try await self.info(for: $0) }, consume)
    }

    private func results<Requests: Sequence<ImageRequest>, Value: Sendable>(
        for requests: Requests, _ maximumActive: Int, _ inOrder: Bool,
        _ load: @escaping @Sendable (ImageRequest) async throws -> Value,
        _ consume: @escaping @Sendable (ImageRequest, Result<Value, any Error>) async throws -> Void
    ) async throws {
        // Set before the next element has its turn, which is before its task is canceled.
        let failure = OneShot<Void>()
        try await forEach(requests, maximumActive: maximumActive, inOrder: inOrder) { request, slot in
            var withSlot = request
            withSlot.slot = slot
            let result: Result<Value, any Error>
            do { result = .success(try await load(withSlot)) } catch { result = .failure(error) }
            if inOrder { await slot.awaitTurn() }
            try Task.checkCancellation()
            if inOrder, failure.isResolved { throw CancellationError() }
            do {
                try await consume(request, result)
            } catch {
                failure.resolve(.failure(error))
                throw error
            }
        }
    }
}
