import HTTPSemantics
import Threading

/// A private HTTP cache of responses (RFC 9111), in a folder, in memory, or in another ``ResponseStorage``.
///
/// To use a cache, set `ImageLoader.Configuration.responseCache`; several loaders can share one cache. The
/// ``CachePolicy`` of a request determines how the cache is used. Complete responses to GET requests are stored unless
/// the request or the response contains `no-store`, or they are too large. Responses with statuses other than 200 and
/// 203, such as errors and redirects, are stored only if they have a freshness lifetime. Responses are stored
/// separately for each combination of URL, fields named by `Vary`, and credentials and cookies of the request. Requests
/// with `ImageRequest.handlesCookies`, and requests for a range, bypass the cache. Responses to requests authenticated
/// by a ``CredentialProvider`` are stored like all others, because a cache belongs to one user. The least recently used
/// responses are removed first.
///
/// Partial bodies of interrupted or canceled downloads are stored as well, if they have at least 16 KiB and a strong
/// validator, but not those of which only the header of the file was read (`ImageLoader.info(for:)`). If there is no complete stored response, the next request for the whole body asks for the remainder and
/// combines both parts, unless its policy is ``CachePolicy/reload``, ``CachePolicy/noStore``, or
/// ``CachePolicy/cacheOnly``.
///
/// A folder contains one file for each response, readable only by its owner. Several processes can use it concurrently:
/// each uses the responses that the others store, and the size limit applies to the whole folder. Damaged files are
/// treated as missing. Files are read and written on the cache's own threads, except that a caller of
/// `ImageLoader.data(for:)` reads a short response itself if that does not wait for a disk. Each version of the file
/// format has its own subfolder; those of other versions are neither used nor removed.
public final class ResponseCache: Sendable {
    /// The location and the limits of a cache.
    public struct Configuration: Sendable {
        /// The folder; `nil` for a cache in memory.
        ///
        /// It is not used if the cache has a ``ResponseStorage`` of your own.
        public var directory: String?
        /// A Boolean value that indicates whether the folder of the cache is created if it does not exist.
        ///
        /// If it is `false`, the initializer throws an error for a folder without a cache.
        public var createsDirectory: Bool
        /// The maximum size of the cache in bytes, as counted by its storage: in memory, the size of bodies and heads of
        /// responses; in a folder, the size of files in whole blocks of 4 KiB.
        public var maximumBytes: Int
        /// The maximum size of a stored body, in bytes.
        public var maximumEntryBytes: Int
        /// The maximum age of a response, in seconds since it was received or last validated; `nil` for no limit.
        ///
        /// Older responses are not used, even if the origin declares them fresh.
        public var maximumAge: Int?
        /// A Boolean value that indicates whether the cache only reads: nothing in its folder is changed, neither when it is
        /// opened nor if an entry is damaged.
        package var isReadOnly = false

        /// Creates a configuration; by default, 512 MiB in total, and bodies of at most 32 MiB.
        public init(
            directory: String? = nil, createsDirectory: Bool = true, maximumBytes: Int = 512 << 20,
            maximumEntryBytes: Int = 32 << 20, maximumAge: Int? = nil
        ) {
            self.directory = directory
            self.createsDirectory = createsDirectory
            self.maximumBytes = maximumBytes
            self.maximumEntryBytes = maximumEntryBytes
            self.maximumAge = maximumAge
        }
    }

    /// The configuration of the cache.
    public let configuration: Configuration
    package let storage: any ResponseStorage
    package let thread = CacheThreads()
    /// The entries that are treated as missing.
    let skipped = Locked(SkippedEntries())
    /// The number of bytes that can be stored before the size limit is checked.
    let limitCheck = Locked(0)
    /// The first error that prevented the storage of a response.
    let storageFailure = Locked(StorageFailure())
    let uses = CacheUses()
    /// The storage, if it can read entries without waiting for a disk.
    let immediateStorage: (any ImmediateStorage)?
    /// Returns the current time, in seconds since 1970.
    package let now: @Sendable () -> Int

    /// Creates a cache in a storage; `now` returns the time in seconds since 1970.
    package init(_ configuration: Configuration, storage: any ResponseStorage, now: @escaping @Sendable () -> Int) {
        self.configuration = configuration
        self.storage = storage
        // All that conform: a cast to the protocol would search all conformances of the program.
        immediateStorage = storage as? FolderStorage ?? storage as? MemoryStorage
        self.now = now
        // Usually, nothing has to be removed, and threads start only when they have to read or write.
        guard !configuration.isReadOnly, immediateStorage?.fits(in: configuration.maximumBytes) != true else { return }
        thread.append(to: .long) { [self] in enforceLimit() }
    }

    /// Creates a cache in a folder or in memory.
    ///
    /// `traffic` counts reads and writes; `now` returns the time in seconds since 1970.
    package convenience init(
        _ configuration: Configuration, traffic: FileIOStatistics? = nil, now: @escaping @Sendable () -> Int
    ) throws(FileFailure) {
        guard let path = configuration.directory else {
            self.init(configuration, storage: MemoryStorage(), now: now)
            return
        }
        let storage = try FolderStorage(
            path: path, isCreated: configuration.createsDirectory, isReadOnly: configuration.isReadOnly,
            traffic: traffic)
        guard !configuration.isReadOnly else {
            self.init(configuration, storage: storage, now: now)
            return
        }
        // Before the limit is enforced, which would count the entries of all shards for want of a ledger, and before a
        // request can continue what a process that has been killed has left.
        let preparation = Result { () throws(FileFailure) in try storage.prepare() }
        self.init(configuration, storage: storage, now: now)
        // Stored responses can still be used, for example in a folder that is mounted read-only.
        if case .failure(let error) = preparation { note(error) }
    }

    /// Creates a cache that keeps responses in a storage of your own; its limits are those of `configuration`.
    public convenience init(_ configuration: Configuration = Configuration(), storage: any ResponseStorage) {
        self.init(configuration, storage: storage, now: { HTTPDate.now })
    }

    /// The source of its responses, for callers.
    package var source: ResponseSource { storage.isInMemory ? .responseCacheMemory : .disk }

    /// The size of all stored responses in bytes, including those of other processes.
    ///
    /// In a folder, this is the size of the files in whole blocks of 4 KiB, without files that are being written.
    public var byteCount: Int { storage.byteCount }

    /// The number of entries: complete and partial responses, including those that other processes have stored.
    public var entryCount: Int { storage.entryCount }

    /// The error that prevented responses from being stored, such as a full disk; `nil` if there was none.
    package var failure: (any Error)? { storageFailure.withLock { $0.failure } }

    /// Calls `report` once, as soon as responses cannot be stored.
    package func onFailure(_ report: @escaping @Sendable (any Error) -> Void) {
        let known = storageFailure.withLock { state -> (any Error)? in
            if state.failure == nil { state.report = report }
            defer { state.isReported = state.failure != nil }
            return state.isReported ? nil : state.failure
        }
        if let known { report(known) }
    }

    /// Waits until all complete responses and the partial bodies of ended downloads are stored and the size limit is
    /// enforced.
    ///
    /// When a download ends, its complete response is already stored; only partial bodies of canceled downloads
    /// and the removal of entries may take longer. Stored responses survive a crash of the process, but may be lost in a
    /// crash of the system, because the cache does not wait until the data is written to the disk.
    public func flush() async {
        await thread.finish()
        // Records pending uses as well.
        await thread.run { [self] in enforceLimit() }
        await thread.finish()
    }

    /// Removes all responses stored so far, including those stored by other processes.
    ///
    /// Throws the error of the storage if some cannot be removed; the others have been removed.
    public func removeAll() async throws {
        let result = await thread.run { [self] in
            skipped.withLock { $0.removeAll() }
            return Result { try storage.removeAll() }
        }
        try result.get()
    }

    /// Removes the least recently used responses until the others take at most `maximumBytes` bytes.
    public func trim(to maximumBytes: Int) async {
        await thread.run(to: .long) { [self] in trimStorage(to: maximumBytes) }
    }

    /// Removes the least recently used responses in the same way; throws the error of the storage if none can be removed.
    package func removeUntil(fitting maximumBytes: Int) async throws {
        let result = await thread.run(to: .long) { [self] in
            Result { uses.record(.eviction, count: try storage.trim(to: maximumBytes)) }
        }
        try result.get()
    }

    /// Removes all responses that are no longer fresh, even if they could be revalidated.
    public func removeExpired() async {
        await removeAll { $0.freshSeconds <= 0 }
    }
}
