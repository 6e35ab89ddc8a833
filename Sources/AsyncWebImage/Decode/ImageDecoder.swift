public import ImageCodecs
import Synchronization
import Threading

#if Tracing
import Tracing
#endif

/// An actor that schedules image decoding on its own threads, with as many concurrent decodes as its memory budget
/// allows.
///
/// The actor only keeps track of memory; bytes and pixels never pass through it.
public actor ImageDecoder {
    /// The settings of a decoder.
    public struct Configuration: Sendable {
        /// The number of decode threads; by default, the number of processors.
        ///
        /// One additional thread takes only short work, so that long decodes do not delay it.
        public var threadCount: Int
        /// The maximum memory of all active decodes, in bytes.
        ///
        /// A result counts until its decode ends; after that it belongs to the callers and the ``MemoryCache``. When
        /// they have released it, its memory is kept for later images until no image has used such memory for one to
        /// two seconds: at most half of the budget, and no more than 128 MiB, in addition to the budget.
        public var memoryBudget: Int
        /// The maximum memory of one decode, in bytes; `nil` for the same limit as ``memoryBudget``.
        ///
        /// If this is larger than ``memoryBudget``, a decode that needs more than the budget runs while no other does.
        public var maximumDecodeBytes: Int?
        /// The limits for each file.
        public var limits: DecodeLimits
        /// Custom formats for files that have no built-in format.
        ///
        /// The first format that recognizes a file decodes it. Their media types are added to `Accept`, unless
        /// ``DownloadConfiguration/headerFields`` changes that field.
        public var customFormats: [any CustomFormat]

        /// Creates a configuration; by default, one thread per processor, a quarter of the available memory but
        /// at most 1 GiB, the default limits, and no custom formats.
        public init(
            threadCount: Int = Configuration.defaultThreadCount,
            memoryBudget: Int = Configuration.defaultMemoryBudget,
            maximumDecodeBytes: Int? = nil,
            limits: DecodeLimits = DecodeLimits(),
            customFormats: [any CustomFormat] = []
        ) {
            self.threadCount = threadCount
            self.memoryBudget = memoryBudget
            self.maximumDecodeBytes = maximumDecodeBytes
            self.limits = limits
            self.customFormats = customFormats
        }

        /// The number of processors available to this process.
        public static let defaultThreadCount = availableProcessorCount()

        /// A quarter of the memory that the process may use, but at most 1 GiB, in bytes; 16 MiB if the size of the
        /// memory is unknown.
        ///
        /// That is the memory of the machine or, if that is less, the limit of a control group of the process, as in a
        /// container.
        public static let defaultMemoryBudget = memoryBudget(availableMemory: availableMemory())

        /// Returns the default budget for this much memory, in bytes; a negative size means that it is unknown.
        static func memoryBudget(availableMemory: Int) -> Int { min(1 << 30, max(64 << 20, availableMemory) / 4) }
    }

    /// A request that waits for memory.
    private struct Wait {
        let continuation: CheckedContinuation<Bool, Never>
        let recall: MemoryRecall?
    }

    /// The time for which memory is held, while others wait for memory, before its return is requested; up to twice this
    /// time, because only an alarm checks it.
    static let recallTime = Duration.seconds(5)

    /// The configuration of the decoder.
    public nonisolated let configuration: Configuration
    nonisolated let threads: DecodeThreads
    /// The memory of the pixels of images that were released, which later images reuse.
    nonisolated let pixels: BufferPool
    private var budget: MemoryBudget {
        didSet { grantedBytes.store(budget.used, ordering: .relaxed) }
    }
    /// The memory in use, for code that does not wait for the actor.
    nonisolated let grantedBytes = Atomic(0)
    private var nextID: MemoryBudget.ID = 0
    private var waiting: [MemoryBudget.ID: Wait] = [:]
    /// The granted requests whose memory can be recalled, with the times when it was granted.
    private var recallable: [MemoryBudget.ID: (recall: MemoryRecall, granted: Stopwatch.Instant)] = [:]
    private var recallAlarm: Alarm<Stopwatch>?
    private let clock: Stopwatch
    private nonisolated let metrics: DecodeMetrics?

    /// Creates a decoder with its own threads and memory budget.
    public init(configuration: Configuration = Configuration()) {
        self.init(configuration: configuration, clock: Stopwatch(ContinuousClock()))
    }

    /// Creates a decoder that measures with `clock` how long memory is unused or held.
    init(configuration: Configuration, clock: Stopwatch, metrics: DecodeMetrics? = nil) {
        self.configuration = configuration
        self.metrics = metrics
        self.clock = clock
        pixels = BufferPool(.pixels(memoryBudget: configuration.memoryBudget), clock: clock)
        threads = DecodeThreads(count: max(1, configuration.threadCount))
        budget = MemoryBudget(limit: configuration.memoryBudget, maximumRequest: configuration.maximumDecodeBytes)
    }

    /// Returns a codec for one file according to `options`.
    package nonisolated func codec(_ options: DecodeOptions) -> StreamingDecoder {
        StreamingDecoder(
            options: options, limits: configuration.limits, customFormats: configuration.customFormats,
            pixelMemory: pixels)
    }

    /// Returns an animation that arrives, with frames according to `options`.
    nonisolated func animation(_ options: DecodeOptions) -> StreamingAnimation {
        StreamingAnimation(
            options: options, limits: configuration.limits, customFormats: configuration.customFormats)
    }

    /// The memory granted to active decodes and other work (``withMemory(_:_:)``), in bytes.
    public var memoryInUse: Int { budget.used }

    /// The number of requests that wait for memory.
    var waitingCount: Int { waiting.count }

    /// Runs `body` once `bytes` bytes of the memory budget are available, and releases them when it ends.
    ///
    /// Use this method for your own work that shares the loader's memory budget. For a ``StreamingDecoder``, pass its
    /// `plan.estimatedBytes`, and call ``StreamingDecoder/begin()`` in `body`. Request all memory at once; a `body`
    /// that requests more while it holds memory can deadlock. Memory is granted in the order of the requests. `body`
    /// runs on the caller's executor. Throws ``CodecError/overLimit(_:value:limit:)`` if the request exceeds
    /// ``Configuration/maximumDecodeBytes``, and `CancellationError` if the task is canceled before memory is granted.
    public nonisolated func withMemory<Result>(_ bytes: Int, _ body: () async throws -> Result) async throws -> Result {
        try await withMemory(bytes, recall: nil, body)
    }

    /// Runs `body` like ``withMemory(_:_:)``, and makes the request `recall` while others wait for memory.
    nonisolated func withMemory<Result>(
        _ bytes: Int, recall: MemoryRecall?, _ body: () async throws -> Result
    ) async throws -> Result {
        let bytes = max(bytes, 0)
        let id = try await acquire(bytes, recall)
        do {
            let result = try await body()
            await release(bytes, id)
            return result
        } catch {
            await release(bytes, id)
            throw error
        }
    }

    /// Performs work that takes processor time, such as encoding an image, on the decoder's threads, and returns its
    /// result.
    ///
    /// The threads of Swift's cooperative pool stay free for other tasks. Decodes of small images take precedence over
    /// waiting work. `work` is not interrupted if the task is canceled.
    ///
    /// ```swift
    /// import ImageEncoders
    ///
    /// let photo = try await loader.image(for: ImageRequest("https://example.com/photo.jpg"))
    /// let file = try await loader.decoder.perform { try photo.pixels.encoded(as: .webp) }
    /// ```
    public nonisolated func perform<Result: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let start = metrics.map { _ in ContinuousClock.now }
        defer { if let start { metrics?.recordWork(since: start) } }
        let result: Swift.Result<Result, Failure> = await withTaskExecutorPreference(threads.forLongWork()) {
            await Self.perform(work)
        }
        return try result.get()
    }

    /// Performs `work` and returns its result; concurrent, so that it runs on the preferred executor.
    @concurrent nonisolated private static func perform<Result: Sendable, Failure: Error>(
        _ work: @Sendable () throws(Failure) -> Result
    ) async -> Swift.Result<Result, Failure> {
        .init { () throws(Failure) in try work() }
    }

    /// Waits for the memory; concurrent, so that it ends outside the actor: otherwise, the work in ``withMemory(_:_:)``
    /// would run on the actor, one decode at a time.
    @concurrent nonisolated private func acquire(
        _ bytes: Int, _ recall: MemoryRecall?
    ) async throws -> MemoryBudget.ID {
        let start = metrics.map { _ in ContinuousClock.now }
        guard let id = try await grant(bytes, recall) else { throw CancellationError() }
        if let start { metrics?.recordMemoryWait(since: start) }
        return id
    }

    /// Records the result of a decode that began at a time; a canceled one, and one that begins again, do not count.
    nonisolated func recordDecode<Value>(since start: ContinuousClock.Instant, _ result: Result<Value, any Error>) {
        switch result {
        case .success: metrics?.recordDecode(since: start, isFinished: true)
        case .failure(let error) where error is CodecError || error is DecodeFailure || error is ImageError:
            metrics?.recordDecode(since: start, isFinished: false)
        case .failure: break
        }
    }

    /// Waits for memory; returns `nil` if the task is canceled first.
    private func grant(_ bytes: Int, _ recall: MemoryRecall?) async throws -> MemoryBudget.ID? {
        nextID += 1
        let id = nextID
        switch budget.request(bytes, id: id) {
        case .granted:
            hold(id, recall)
            return id
        case .impossible: throw CodecError.overLimit(.memory, value: bytes, limit: budget.maximumRequest)
        case .waiting: if recallAlarm == nil { setRecallAlarm() }
        }
        #if Tracing
        let span = DecodeSpan.current?.startPart("wait for memory")
        defer { span?.end() }
        #endif
        let isGranted = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled, let granted = budget.withdraw(id) {
                    continuation.resume(returning: false)
                    admit(granted)
                } else {
                    waiting[id] = Wait(continuation: continuation, recall: recall)
                }
            }
        } onCancel: {
            // The handler must not block; the actor withdraws the request later.
            Task { await self.withdraw(id) }
        }
        return isGranted ? id : nil
    }

    private func withdraw(_ id: MemoryBudget.ID) {
        guard let wait = waiting[id], let granted = budget.withdraw(id) else { return }
        waiting[id] = nil
        wait.continuation.resume(returning: false)
        admit(granted)
    }

    private func release(_ bytes: Int, _ id: MemoryBudget.ID) {
        recallable[id] = nil
        admit(budget.release(bytes))
    }

    private func admit(_ ids: [MemoryBudget.ID]) {
        for id in ids {
            guard let wait = waiting.removeValue(forKey: id) else { continue }
            hold(id, wait.recall)
            wait.continuation.resume(returning: true)
        }
        if waiting.isEmpty { recallAlarm = nil }
    }

    private func hold(_ id: MemoryBudget.ID, _ recall: MemoryRecall?) {
        if let recall { recallable[id] = (recall, clock.now) }
    }

    private func setRecallAlarm() {
        let alarm = Alarm(clock: clock) { [weak self] in
            // The alarm must not block.
            Task { await self?.recallMemory() }
        }
        alarm.set(clock.now.advanced(by: Self.recallTime))
        recallAlarm = alarm
    }

    private func recallMemory() {
        recallAlarm = nil
        guard !waiting.isEmpty else { return }
        let now = clock.now
        for (recall, granted) in recallable.values where granted.duration(to: now) >= Self.recallTime {
            recall.request()
        }
        setRecallAlarm()
    }
}
