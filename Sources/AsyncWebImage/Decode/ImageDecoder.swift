public import ImageCodecs
import Threading

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Decodes images on threads of its own, as many at a time as the memory allowed for it holds.
///
/// The actor keeps the books only; bytes and pixels never pass through it.
public actor ImageDecoder {
    /// What decoding may cost.
    public struct Configuration: Sendable {
        /// Decode threads; as many as there are processors by default.
        public var threadCount: Int
        /// Bytes of memory for all decodes under way.
        ///
        /// A result counts until its decode ends; from then on it is the callers' and the ``MemoryCache``'s.
        public var memoryBudget: Int
        /// What one file may cost.
        public var limits: DecodeLimits
        /// Formats of your own, for files that are no JPEG, PNG, WebP or GIF.
        ///
        /// The first that recognizes a file decodes it. Their media types are named in `Accept`, unless
        /// ``DownloadConfiguration/headerFields`` has another than the usual one.
        public var customFormats: [any CustomFormat]

        /// One thread a processor, a quarter of the machine's memory but no more than 1 GiB, the default limits, no
        /// further formats.
        public init(
            threadCount: Int = Machine.processorCount,
            memoryBudget: Int = min(1 << 30, Machine.memoryBytes / 4),
            limits: DecodeLimits = DecodeLimits(),
            customFormats: [any CustomFormat] = []
        ) {
            self.threadCount = threadCount
            self.memoryBudget = memoryBudget
            self.limits = limits
            self.customFormats = customFormats
        }
    }

    /// What it was made with.
    public nonisolated let configuration: Configuration
    nonisolated let threads: DecodeThreads
    private var budget: MemoryBudget
    private var nextID: MemoryBudget.ID = 0
    private var waiting: [MemoryBudget.ID: CheckedContinuation<Bool, Never>] = [:]

    /// A decoder with threads and a budget of its own.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        threads = DecodeThreads(count: max(1, configuration.threadCount))
        budget = MemoryBudget(limit: configuration.memoryBudget)
    }

    deinit { threads.close() }

    /// What decodes one file as `options` ask.
    nonisolated func codec(_ options: DecodeOptions) -> StreamingDecoder {
        StreamingDecoder(options: options, limits: configuration.limits, customFormats: configuration.customFormats)
    }

    /// Bytes of memory that decodes under way have been granted.
    public var memoryInUse: Int { budget.used }

    /// Runs `body` once there is room for `bytes` of memory in the budget, and gives the room back when it ends.
    ///
    /// For work of your own that shall count with the loader's decodes: a ``StreamingDecoder`` says in its plan what to
    /// ask for, before ``StreamingDecoder/begin()``. Ask once for everything; `body` that asks again while it holds memory
    /// may wait for itself. Room is given in the order in which it is asked for. `body` runs where the caller runs. Throws
    /// ``CodecError/overLimit(_:value:limit:)`` if there never can be room, and `CancellationError` if the task is
    /// canceled first.
    public nonisolated func withMemory<Result>(_ bytes: Int, _ body: () async throws -> Result) async throws -> Result {
        let bytes = max(bytes, 0)
        try await acquire(bytes)
        do {
            let result = try await body()
            await release(bytes)
            return result
        } catch {
            await release(bytes)
            throw error
        }
    }

    /// Concurrent, so that it ends outside the actor: what follows in ``withMemory(_:_:)`` would run inside it otherwise,
    /// one decode after the other.
    @concurrent nonisolated private func acquire(_ bytes: Int) async throws {
        let isGranted = try await grant(bytes)
        guard isGranted else { throw CancellationError() }
    }

    /// Waits for room; false if the task is canceled first.
    private func grant(_ bytes: Int) async throws -> Bool {
        nextID += 1
        let id = nextID
        switch budget.request(bytes, id: id) {
        case .granted: return true
        case .impossible: throw CodecError.overLimit(.memory, value: bytes, limit: budget.limit)
        case .waiting: break
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled, let granted = budget.withdraw(id) {
                    continuation.resume(returning: false)
                    admit(granted)
                } else {
                    waiting[id] = continuation
                }
            }
        } onCancel: {
            // The handler must not wait; the actor takes the wish back when it can.
            Task { await self.withdraw(id) }
        }
    }

    private func withdraw(_ id: MemoryBudget.ID) {
        guard let continuation = waiting[id], let granted = budget.withdraw(id) else { return }
        waiting[id] = nil
        continuation.resume(returning: false)
        admit(granted)
    }

    private func release(_ bytes: Int) {
        admit(budget.release(bytes))
    }

    private func admit(_ ids: [MemoryBudget.ID]) {
        for id in ids { waiting.removeValue(forKey: id)?.resume(returning: true) }
    }
}

/// What this machine has.
public enum Machine: Sendable {
    /// Processors this process may use.
    public static let processorCount = availableProcessorCount()
    /// Bytes of physical memory.
    public static let memoryBytes = max(
        64 << 20, Int(sysconf(Int32(_SC_PHYS_PAGES))) * Int(sysconf(Int32(_SC_PAGESIZE))))
}
