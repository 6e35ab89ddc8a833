import ResponseCache
import Threading

// Encoded files in the response cache, which is asked once for all callers that wait for the same file.
extension DownloadCoordinator {
    /// Returns a stored file that is fresh and can be read without waiting for a disk; can be called on any thread.
    ///
    /// A file that others wait for is not looked for.
    nonisolated func immediateFile(
        _ identity: FileIdentity, of key: FetchKey, _ stored: Subscriber.StoredFile
    ) -> ImageFile? {
        guard case .unknown = stored, let cache = environment.responseCache else { return nil }
        let file = FileKey(fetch: key, identity: identity)
        guard !activeFiles.withLock({ $0.contains(file) }), let storageKey = resultKey(file),
            let result = cache.immediateResult(storageKey, policy: key.cachePolicy)
        else { return nil }
        return encodedFile(result, file).map { ImageFile($0, origin: result.origin) }
    }

    /// Returns the key under which a file is stored; `nil` if stored files are not used.
    private nonisolated func resultKey(_ file: FileKey) -> ResultKey? {
        file.fetch.isConditional || file.fetch.cachePolicy == .reload
            ? nil : immediateResponses?.resultKey(file.identity, of: file.fetch)
    }

    /// Returns the file of a stored result, if it may be used.
    private nonisolated func encodedFile(_ result: StoredResult, _ file: FileKey) -> EncodedFile? {
        immediateResponses?.accepts(result.head, for: file.fetch) == true
            ? EncodedFile(result, file.identity.rule) : nil
    }

    /// Lets a caller wait until it is known whether its file is stored; returns `false` if that does not matter, or the
    /// file is being made.
    func looksForFile(of caller: Subscriber) -> Bool {
        guard case .file(let identity, let answer, .unknown) = caller.product,
            let cache = environment.responseCache
        else {
            return false
        }
        let file = FileKey(fetch: caller.key, identity: identity)
        if !fileLookups.contains(file) {
            guard caller.variant.map({ isDecoding($0, of: caller.key) }) != true, let key = resultKey(file) else {
                return false
            }
            setActive(file, true)
            cache.lookUp(key, policy: caller.key.cachePolicy) { self.process(.fileLookedUp(file, $0)) }
        }
        fileLookups.add(caller, waitingFor: file)
        // The request is known to nobody else yet.
        caller.conditions?.startTime(environment.clock) { [weak self, id = caller.id, error = caller.timeout] in
            answer.resolve(.failure(error))
            self?.post(.event(.callerTimedOut(id)))
        }
        return true
    }

    /// Answers the callers of a file that is stored and fresh; returns the messages of all others.
    func endLookup(of file: FileKey, _ result: StoredResult?) -> [CoordinatorMessage] {
        setActive(file, false)
        let found = result.flatMap { result in encodedFile(result, file).map { (result: result, file: $0) } }
        return fileLookups.end(file).compactMap { message in
            guard case .join(var caller) = message, case .file(_, let answer, _) = caller.product else {
                return message
            }
            if let found, found.result.isFresh {
                caller.slot?.keep()
                caller.deliver(ImageFile(found.file, origin: found.result.origin))
                return nil
            }
            caller.product = .file(file.identity, answer, .none)
            if let found { ask(about: found.file, found.result, for: &caller) }
            return .join(caller)
        }
    }

    /// Lets a caller ask the origin whether a stale file can be used, if that has a version.
    private func ask(about file: EncodedFile, _ result: StoredResult, for caller: inout Subscriber) {
        guard let version = result.version, let cache = environment.responseCache,
            case .file(let identity, let answer, _) = caller.product
        else { return }
        let stale = StaleFile(file: file, result: result, cache: cache, fetch: caller.key) { self.post(.join($0)) }
        caller.key = caller.key.asking(about: version)
        caller.product = .file(identity, answer, .stale(stale))
    }

    /// Notes whether a file is being looked up or made.
    func setActive(_ file: FileKey?, _ isActive: Bool) {
        guard let file else { return }
        activeFiles.withLock { files in
            if isActive { files.insert(file) } else { files.remove(file) }
        }
    }
}
