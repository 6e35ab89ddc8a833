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
        let fetch = try fetchKey(request)
        let stored = storedFileKey(request, fetch, identity)
        if let stored, let file = immediateFile(request, stored) { return file }
        return try await answer(to: request, fetch, { .file(identity, $0, nil) }) { [self] caller in
            guard let stored else { return coordinator.join(caller) }
            lookUp(stored, for: caller) { [coordinator] caller in
                if let caller { coordinator.post(.join(caller)) }
            }
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
        do {
            let fetch = try fetchKey(request)
            let stored = storedFileKey(request, fetch, identity)
            if let stored, let file = immediateFile(request, stored) {
                answer.resolve(.success(file))
                control.end()
            } else {
                var caller = Subscriber(request, fetch, id: id, product: .file(identity, answer, nil))
                caller.response = response
                if let stored { lookUp(stored, for: caller, then: control.join) } else { control.join(caller) }
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
    /// The place of a file in the cache.
    private struct StoredFileKey: Sendable {
        let cache: ResponseCache
        let key: ResultKey
        let fetch: FetchKey
        let rule: OutputRule
    }

    /// Returns the place where the file is stored, if it is; `nil` for requests that stored files do not answer.
    private func storedFileKey(
        _ request: ImageRequest, _ fetch: FetchKey, _ identity: FileIdentity
    ) -> StoredFileKey? {
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

    /// Answers a caller with a fresh file; otherwise, calls `join` with the caller, which asks about a stale file.
    ///
    /// Does not wait for the disk. Calls `join` with `nil` if the caller has been answered, possibly because its deadline
    /// has passed in the meantime.
    private func lookUp(
        _ key: StoredFileKey, for caller: Subscriber, then join: @escaping @Sendable (Subscriber?) -> Void
    ) {
        guard case .file(let identity, let answer, _) = caller.product else { return join(caller) }
        caller.conditions?.startTime(coordinator.environment.clock) {
            [coordinator, id = caller.id, error = caller.timeout] in
            answer.resolve(.failure(error))
            coordinator.post(.event(.callerTimedOut(id)))
        }
        key.cache.result(key.key, policy: key.fetch.cachePolicy) { [coordinator] result in
            guard !answer.isResolved else { return join(nil) }
            guard let result, coordinator.accepts(result.head, for: key.fetch), let file = EncodedFile(result, key.rule)
            else { return join(caller) }
            if result.isFresh {
                caller.slot?.keep()
                answer.resolve(.success(ImageFile(file, origin: result.origin)))
                return join(nil)
            }
            guard let version = result.version else { return join(caller) }
            let stale = StaleFile(file: file, result: result, key: key.key, cache: key.cache, fetch: key.fetch) {
                coordinator.post(.join($0))
            }
            var asking = caller
            (asking.key, asking.product) = (key.fetch.asking(about: version), .file(identity, answer, stale))
            join(asking)
        }
    }
}
