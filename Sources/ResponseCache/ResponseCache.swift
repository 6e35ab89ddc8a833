import HTTPSemantics
import HTTPTransport
import Threading

/// Responses as they came, kept for the next time as HTTP has it (RFC 9111): a private cache, in a folder or in memory.
///
/// Give it to a loader by `ImageLoader.Configuration.responseCache`; several loaders may share one. What a request
/// makes of it says its ``CachePolicy``. Whole answers of status 200 and 203 to GET are kept, unless they say
/// `no-store`, are too large, or a redirect led to them; each for the URL, what `Vary` names, and the credentials
/// and cookies of the request. Requests with `ImageRequest.handlesCookies` pass it by. What a ``CredentialProvider``
/// unlocks is kept like everything else: a cache belongs to one user. What is used least recently goes first.
///
/// Of a body that broke off, or was given up, what had come is kept too, from 16 KiB on, if a strong validator came with
/// it. The next request that finds no whole response asks for the rest, and gets both as one; ``CachePolicy/reload`` and
/// ``CachePolicy/noStore`` do not, and ``CachePolicy/cacheOnly`` takes it for nothing.
///
/// A folder holds a file for each response, and one for a head that was renewed, readable by their owner alone. Several processes may use it at a time; each
/// finds what the others store when it starts, and keeps to the limit what it knows of. A file that is damaged, or gone,
/// is not there. Reading and writing is done by a thread of the cache's own.
public final class ResponseCache: Sendable {
    /// Where responses are kept, and how many.
    public struct Configuration: Sendable {
        /// The folder, made if there is none; nil for memory.
        public var directory: String?
        /// Most bytes that are kept, heads included.
        public var byteLimit: Int
        /// Most bytes of a body that is kept.
        public var entryLimit: Int

        /// 512 MiB, and bodies of at most 32 MiB.
        public init(directory: String? = nil, byteLimit: Int = 512 << 20, entryLimit: Int = 32 << 20) {
            self.directory = directory
            self.byteLimit = byteLimit
            self.entryLimit = entryLimit
        }
    }

    /// The limits it was made with.
    public let configuration: Configuration
    let folder: CacheFolder?
    package let thread = CacheThread()
    /// The contents are those of a cache in memory; nil stands for a file.
    let index: Locked<CacheIndex<StoredResponse?>>
    /// The names of damaged entries that could not be removed.
    let unremovable = Locked<Set<String>>([])
    /// The time, in seconds since 1970.
    package let now: @Sendable () -> Int

    /// A cache; what the folder has from earlier is looked through in the background.
    ///
    /// `traffic` counts what is read and written, `now` tells the time in seconds since 1970.
    package init(
        _ configuration: Configuration, traffic: FileTraffic? = nil, now: @escaping @Sendable () -> Int
    ) throws(FileFailure) {
        self.configuration = configuration
        self.now = now
        index = Locked(CacheIndex(limit: configuration.byteLimit))
        folder = try configuration.directory.map { path throws(FileFailure) in
            try CacheFolder(path: path, traffic: traffic)
        }
        if folder != nil { startRequiredThread(named: "webimage-cache-scan") { [self] in scan() } }
    }

    deinit { thread.close() }

    /// Where responses of it come from, for callers.
    package var source: ResponseSource { folder == nil ? .storedInMemory : .disk }

    /// Bytes that are kept, as far as is known.
    public var byteCount: Int { index.withLock { $0.size } }

    /// Returns when all that was to be written is.
    package func finishesWriting() async { await thread.run {} }

    /// Forgets everything that was stored before, by other processes too.
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

    /// Forgets what is no longer fresh, though it might have been asked for again.
    public func removeExpired() async {
        for name in index.withLock({ $0.allNames }) {
            await thread.run { [self] in
                guard let stored = open(name) else { return }
                if !stored.head.freshness.isFresh(at: now()) { remove(name) }
            }
        }
    }

    /// Forgets all responses of a URL that was asked for without credentials and cookies.
    ///
    /// A text that is no URL has none.
    public func remove(_ url: String) async {
        guard let url = try? HTTPURL(url) else { return }
        await thread.run { [self] in removeEntries(CacheKey(TransportRequest(url: url))) }
    }
}
