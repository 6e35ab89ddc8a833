import HTTPSemantics
import HTTPTransport
import Threading

/// A private HTTP cache of responses (RFC 9111), in a folder or in memory.
///
/// To use a cache, set `ImageLoader.Configuration.responseCache`; several loaders can share one cache. The
/// ``CachePolicy`` of a request determines how the cache is used. Complete responses to GET with status 200 or 203 are
/// stored, unless they contain `no-store`, are too large, or follow a redirect; responses with other statuses only if
/// they have a freshness lifetime. They are stored separately for each combination of URL, fields named by `Vary`, and
/// credentials and cookies of the request. Requests with `ImageRequest.handlesCookies` bypass the cache. Responses to requests authenticated by a ``CredentialProvider`` are
/// stored like all others, because a cache belongs to one user. The least recently used responses are removed first.
///
/// Partial bodies of interrupted or canceled downloads are stored as well, if they have at least 16 KiB and a strong
/// validator. If there is no complete stored response, the next request asks for the remainder and combines both parts.
/// ``CachePolicy/reload``, ``CachePolicy/noStore``, and ``CachePolicy/cacheOnly`` ignore partial bodies. Requests for a
/// range are answered from every stored response that contains it; their own responses are stored as well.
///
/// A folder contains one file for each response, and one for each updated head, readable only by their owner. Several
/// processes can use it concurrently. Each finds the responses that were stored before it started, and of those that
/// other processes store later, the ones without a `Vary` field. It applies the size limit to the entries it knows.
/// Damaged files are treated as missing. Files are read and written on the cache's own thread.
public final class ResponseCache: Sendable {
    /// The location and the limits of a cache.
    public struct Configuration: Sendable {
        /// The folder, created if necessary; `nil` for a cache in memory.
        public var directory: String?
        /// The maximum size of the cache in bytes, including the heads of responses.
        public var maximumBytes: Int
        /// The maximum size of a stored body, in bytes.
        public var maximumEntryBytes: Int

        /// Creates a configuration; by default 512 MiB, and bodies of at most 32 MiB.
        public init(directory: String? = nil, maximumBytes: Int = 512 << 20, maximumEntryBytes: Int = 32 << 20) {
            self.directory = directory
            self.maximumBytes = maximumBytes
            self.maximumEntryBytes = maximumEntryBytes
        }
    }

    /// The configuration of the cache.
    public let configuration: Configuration
    let folder: CacheFolder?
    package let thread = CacheThread()
    /// The entries, with their contents for a cache in memory; `nil` for a file.
    let index: Locked<CacheIndex<StoredResponse?>>
    /// The names of damaged entries that could not be removed.
    let unremovable = Locked<Set<String>>([])
    /// Returns the current time, in seconds since 1970.
    package let now: @Sendable () -> Int

    /// Creates a cache; existing entries of the folder are indexed in the background.
    ///
    /// `traffic` counts reads and writes; `now` returns the time in seconds since 1970.
    package init(
        _ configuration: Configuration, traffic: FileIOStatistics? = nil, now: @escaping @Sendable () -> Int
    ) throws(FileFailure) {
        self.configuration = configuration
        self.now = now
        index = Locked(CacheIndex(limit: configuration.maximumBytes))
        folder = try configuration.directory.map { path throws(FileFailure) in
            try CacheFolder(path: path, traffic: traffic)
        }
        if folder != nil { startRequiredThread(named: "webimage-cache-scan") { [self] in scan() } }
    }

    deinit { thread.close() }

    /// The source of its responses, for callers.
    package var source: ResponseSource { folder == nil ? .storedInMemory : .disk }

    /// The size of the known entries, in bytes.
    public var byteCount: Int { index.withLock { $0.size } }

    /// Returns when all pending data has been written.
    package func finishesWriting() async { await thread.run {} }

    /// Removes all responses stored so far, including those of other processes.
    public func removeAll() async {
        await thread.run { [self] in
            let names = index.withLock { index in
                defer { index.removeAll() }
                return index.allNames
            }
            guard let folder else { return }
            for name in names { folder.removeEntry(name) }
            for file in folder.files where EntryKind(file.name) != nil || RenewedHeadFile.entry(file.name) != nil {
                folder.remove(file.name)
            }
        }
    }

    /// Removes all responses that are no longer fresh, even if they could be revalidated.
    public func removeExpired() async {
        for name in index.withLock({ $0.allNames }) {
            await thread.run { [self] in
                guard let stored = open(name) else { return }
                if !stored.head.freshness.isFresh(at: now()) { remove(name) }
            }
        }
    }

    /// Removes the responses stored for a URL, except those to requests with credentials or cookies.
    ///
    /// This method does nothing if the text is not an http or https URL.
    public func remove(_ url: String) async {
        guard let url = try? HTTPURL(url) else { return }
        await thread.run { [self] in removeEntries(CacheKey(TransportRequest(url: url))) }
    }
}
