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
    /// the file is used again. Not stored are partial images, and those of responses that may not be stored, were
    /// redirected, or have been changed by a hook; nor are files looked up for requests with
    /// ``ImageRequest/requirements``, ``ImageRequest/expectedDigest``, or ``ImageRequest/knownVersion``.
    ///
    /// The options of the request apply, except that ``DecodeOptions/keepsProfile`` follows from the rule. Throws
    /// ``ImageError``, with ``CodecError/encodingFailed(_:_:)`` as the cause if the format cannot store the image;
    /// canceling the task throws `CancellationError` and does not affect other callers.
    public func file(for request: ImageRequest, as rule: OutputRule) async throws -> ImageFile {
        let id = coordinator.newSubscriberID()
        let answer = OneShot<ImageFile>()
        return try await withTaskCancellationHandler {
            try await load(request, FileIdentity(options: request.options, rule: rule), answer, nil, id)
        } onCancel: {
            answer.resolve(.failure(CancellationError()))
            coordinator.post(.leave(id))
        }
    }

    /// Starts making the file and returns a handle with which you can await, observe, cancel, and prioritize the load;
    /// see ``file(for:as:)``.
    public func fileTask(for request: ImageRequest, as rule: OutputRule) -> LoadTask<ImageFile> {
        let (answer, response) = (OneShot<ImageFile>(), ResponseAccess())
        let id = coordinator.newSubscriberID()
        let identity = FileIdentity(options: request.options, rule: rule)
        // The handle outlives this call, and looking up a stored file can take time.
        Task {
            do {
                answer.resolve(.success(try await load(request, identity, OneShot(), response, id)))
            } catch {
                answer.resolve(.failure(error))
            }
        }
        let control = LoadControl(id: id, priority: request.priority, coordinator: coordinator)
        return LoadTask(request: request, answer: answer, response: response, head: \.head, control: control)
    }

    private func load(
        _ request: ImageRequest, _ identity: FileIdentity, _ answer: OneShot<ImageFile>, _ response: ResponseAccess?,
        _ id: CallerID
    ) async throws -> ImageFile {
        var key = try fetchKey(request)
        var known: (key: ResultKey, result: StoredResult)?
        if let stored = storedFiles(for: request, key, identity) {
            if let result = stored.cache.immediateResult(stored.key, policy: key.cachePolicy),
                let file = EncodedFile(result, identity.rule)
            {
                request.slot?.keep()
                return ImageFile(file, origin: result.origin)
            }
            if let result = await stored.cache.result(stored.key, policy: key.cachePolicy),
                let file = EncodedFile(result, identity.rule)
            {
                if result.isFresh {
                    request.slot?.keep()
                    return ImageFile(file, origin: result.origin)
                }
                if let version = result.version {
                    var request = request
                    request.knownVersion = version
                    key = try fetchKey(request)
                    known = (stored.key, result)
                }
            }
        }
        var subscriber = Subscriber(request, key, id: id, product: .file(identity, answer))
        subscriber.response = response
        coordinator.join(subscriber)
        do {
            return try await answer.value
        } catch ImageError.notModified(let head) {
            guard let known, let cache = responseCache, let file = EncodedFile(known.result, identity.rule) else {
                throw ImageError.notModified(head)
            }
            let result = await cache.confirm(known.result, by: head, for: known.key)
            return ImageFile(file, origin: result.origin)
        }
    }

    /// Returns the cache that can have the file, and its key there; `nil` if none can.
    private func storedFiles(
        for request: ImageRequest, _ key: FetchKey, _ identity: FileIdentity
    ) -> (cache: ResponseCache, key: ResultKey)? {
        guard let responseCache, request.expectedDigest == nil, request.requirements == nil, !key.isConditional,
            let resultKey = coordinator.resultKey(identity, of: key)
        else { return nil }
        return (responseCache, resultKey)
    }
}
