import ImageCodecs
import ResponseCache

// Encoded images.
extension ImageLoader {
    /// Returns the image as a file of another format or size, encoded according to the rule.
    ///
    /// All callers that wait for the same file share its download, its decode, and its encoding. The memory for decoding
    /// and encoding is granted by ``decoder``, on whose threads both run.
    ///
    /// With a ``responseCache``, files of up to 2 MiB are stored beside the response, and are fresh for as long; then the
    /// original is not read. When a file is stale, the origin is asked whether the original has changed; if it has not,
    /// the file is used again. Not stored are partial images, images of requests with
    /// ``DecodeOptions/stopsWhenComplete``, and those of responses that may not be stored, were redirected, or have been
    /// changed by a hook; nor are files looked up for requests with ``ImageRequest/requirements``,
    /// ``ImageRequest/expectedDigest``, or ``ImageRequest/knownVersion``.
    ///
    /// The options of the request apply, except that ``DecodeOptions/keepsProfile`` follows from the rule. Throws
    /// ``ImageError``, with ``CodecError/encodingFailed(_:_:)`` as the cause if the format cannot store the image;
    /// canceling the task throws `CancellationError` and does not affect other callers.
    public func file(for request: ImageRequest, as rule: OutputRule) async throws -> ImageFile {
        if !request.fallbackURLs.isEmpty { return try await trying(request) { try await file(for: $0, as: rule) } }
        let identity = FileIdentity(recipe: request.recipe, rule: rule)
        var stored: StoredFile?
        if let key = try storedFileKey(request, identity) {
            if let file = immediateFile(request, key) { return file }
            stored = await storedFile(request, key)
            if case .fresh(let file) = stored { return file }
        }
        let asking = request.asking(about: stored)
        return try await answer(to: asking, try fetchKey(asking)) { answer in
            .file(identity, answer, staleFile(stored, request, identity, answer))
        }
    }

    /// Starts making the file and returns a handle with which you can await, observe, cancel, and prioritize the load;
    /// see ``file(for:as:)``.
    public func fileTask(for request: ImageRequest, as rule: OutputRule) -> LoadTask<ImageFile> {
        guard !request.fallbackURLs.isEmpty else { return fileTask(for: request, as: rule, ResponseAccess()) }
        return tryingTask(request, \.head) { self.fileTask(for: $0, as: rule, $1) }
    }

    private func fileTask(
        for request: ImageRequest, as rule: OutputRule, _ response: ResponseAccess
    ) -> LoadTask<ImageFile> {
        let answer = OneShot<ImageFile>()
        let id = coordinator.newSubscriberID()
        let identity = FileIdentity(recipe: request.recipe, rule: rule)
        let control = LoadControl(id: id, priority: request.priority, coordinator: coordinator, isJoined: false)
        let join = { @Sendable (stored: StoredFile?) throws(ImageError) in
            let asking = request.asking(about: stored)
            let stale = self.staleFile(stored, request, identity, answer)
            var subscriber = Subscriber(
                asking, try self.fetchKey(asking), id: id, product: .file(identity, answer, stale))
            subscriber.response = response
            control.join(subscriber)
        }
        do {
            if let key = try storedFileKey(request, identity) {
                if let file = immediateFile(request, key) {
                    answer.resolve(.success(file))
                    control.end()
                } else {
                    // The handle is returned before the disk has been read.
                    Task {
                        let stored = await storedFile(request, key)
                        do {
                            guard case .fresh(let file) = stored else { return try join(stored) }
                            answer.resolve(.success(file))
                        } catch {
                            answer.resolve(.failure(error))
                        }
                        control.end()
                    }
                }
            } else {
                try join(nil)
            }
        } catch {
            answer.resolve(.failure(error))
            control.end()
        }
        return LoadTask(request: request, answer: answer, response: response, head: \.head, control: control)
    }
}

// Files in the response cache.
extension ImageLoader {
    fileprivate enum StoredFile: Sendable {
        case fresh(ImageFile)
        case stale(StaleFile)

        var stale: StaleFile? {
            if case .stale(let file) = self { file } else { nil }
        }
    }

    private struct StoredFileKey: Sendable {
        let cache: ResponseCache
        let key: ResultKey
        let fetch: FetchKey
        let rule: OutputRule
    }

    /// Returns the place where the file is stored, if it is; `nil` for requests that stored files do not answer.
    private func storedFileKey(
        _ request: ImageRequest, _ identity: FileIdentity
    ) throws(ImageError) -> StoredFileKey? {
        let fetch = try fetchKey(request)
        guard let responseCache, request.expectedDigest == nil, request.requirements == nil, !fetch.isConditional,
            let key = coordinator.resultKey(identity, of: fetch)
        else { return nil }
        return StoredFileKey(cache: responseCache, key: key, fetch: fetch, rule: identity.rule)
    }

    /// Returns a fresh file that can be read without waiting for a disk.
    private func immediateFile(_ request: ImageRequest, _ key: StoredFileKey) -> ImageFile? {
        guard let result = key.cache.immediateResult(key.key, policy: key.fetch.cachePolicy),
            coordinator.accepts(result.head, for: key.fetch), let file = EncodedFile(result, key.rule)
        else { return nil }
        request.slot?.keep()
        return ImageFile(file, origin: result.origin)
    }

    private func storedFile(_ request: ImageRequest, _ key: StoredFileKey) async -> StoredFile? {
        guard let result = await key.cache.result(key.key, policy: key.fetch.cachePolicy),
            coordinator.accepts(result.head, for: key.fetch), let file = EncodedFile(result, key.rule)
        else { return nil }
        guard result.isFresh else {
            return result.version == nil
                ? nil : .stale(StaleFile(file: file, result: result, key: key.key, cache: key.cache))
        }
        request.slot?.keep()
        return .fresh(ImageFile(file, origin: result.origin))
    }
}

extension ImageLoader {
    /// Returns the stale file of a caller, which is loaded again if the origin answers for another response.
    private func staleFile(
        _ stored: StoredFile?, _ request: ImageRequest, _ identity: FileIdentity, _ answer: OneShot<ImageFile>
    ) -> StaleFile? {
        guard var stale = stored?.stale else { return nil }
        stale.loadAgain = { [coordinator, id = coordinator.newSubscriberID()] in
            do {
                let key = try self.fetchKey(request)
                coordinator.post(
                    .join(Subscriber(request, key, id: id, product: .file(identity, answer, nil))))
            } catch {
                answer.resolve(.failure(error))
            }
        }
        return stale
    }
}

extension ImageRequest {
    /// Returns the request that asks the origin whether a stale file is current.
    fileprivate func asking(about stored: ImageLoader.StoredFile?) -> ImageRequest {
        guard let version = stored?.stale?.result.version else { return self }
        var request = self
        request.knownVersion = version
        return request
    }
}
