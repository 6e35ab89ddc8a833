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
        let (key, identity) = (try fetchKey(request), FileIdentity(recipe: request.recipe, rule: rule))
        let stored = request.storedFile
        if let file = coordinator.immediateFile(identity, of: key, stored) {
            request.slot?.keep()
            return file
        }
        return try await answer(to: request, key) { .file(identity, $0, stored) }
    }

    /// Starts making the file and returns a handle with which you can await, observe, cancel, and prioritize the load;
    /// see ``file(for:as:)``.
    public func fileTask(for request: ImageRequest, as rule: OutputRule) -> LoadTask<ImageFile> {
        let (stored, identity) = (request.storedFile, FileIdentity(recipe: request.recipe, rule: rule))
        return start(
            request, \.head, immediate: { [coordinator] in coordinator.immediateFile(identity, of: $0, stored) }
        ) { .file(identity, $0, stored) }
    }
}

extension ImageRequest {
    /// The knowledge about the stored file of a new request: a stored one does not answer it if it depends on more than
    /// the pixels.
    fileprivate var storedFile: Subscriber.StoredFile {
        expectedDigest == nil && requirements == nil ? .unknown : .none
    }
}
