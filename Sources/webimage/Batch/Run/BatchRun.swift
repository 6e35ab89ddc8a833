import AsyncWebImage
import Threading
import WebimageConsole

/// Reads a list, answers its lines, and delivers the answers.
final class BatchRun: Sendable {
    /// The numbers of lines at a time.
    struct Limits: Sendable {
        /// The maximum number of lines that are transferred or processed.
        let active: Int
        /// The maximum number of lines that are read and not delivered.
        let open: Int
    }

    private let list: BatchList
    private let processor: LineProcessor
    private let output: any BatchOutput
    private let progress: BatchProgress
    private let workers: ThreadPool
    private let lines: LoadGroup
    /// The time for which active transfers continue after an interruption.
    private let grace: Duration
    /// The action for each answer, before it is delivered.
    private let whenAnswered: @Sendable (BatchRecord) -> Void
    private let state = Locked(State())

    private struct State {
        var failure: (any Error)?
        var task: Task<Void, any Error>?
        var winding: Task<Void, Never>?
    }

    init(
        list: BatchList, processor: LineProcessor, output: any BatchOutput, limits: Limits,
        progress: BatchProgress, workers: ThreadPool, grace: Duration,
        whenAnswered: @escaping @Sendable (BatchRecord) -> Void = { _ in }
    ) {
        self.list = list
        self.processor = processor
        self.output = output
        self.progress = progress
        self.workers = workers
        lines = processor.loader.loadGroup(
            maximumActive: limits.active, maximumOpen: limits.open, inOrder: processor.isOrdered)
        self.grace = grace
        self.whenAnswered = whenAnswered
    }

    /// Ends the run early because nothing can be delivered anymore.
    func fail(_ error: any Error) {
        let task = state.withLock { state in
            state.failure = state.failure ?? error
            return state.task
        }
        task?.cancel()
    }

    /// Answers all lines.
    ///
    /// If the task is canceled, no further line is read, active transfers have the grace period to finish, and the
    /// remaining lines are answered as canceled. Throws the error that ended the run.
    func run() async throws {
        // A task of its own, because it continues for the grace period.
        let task = Task(executorPreference: workers) { try await self.answerAll() }
        let hasFailed = state.withLock { state in
            state.task = task
            return state.failure != nil
        }
        if hasFailed { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            list.stop()
            state.withLock { $0.winding = Task { await self.windDown(task) } }
        }
        state.withLock { $0.winding }?.cancel()
        if let failure = state.withLock({ $0.failure }) {
            output.discard()
            throw failure
        }
        // If the list cannot be read to its end, the output must not look complete.
        try await output.finish(progress.statistics, isComplete: (try? result.get()) != nil)
        try result.get()
    }

    private func answerAll() async throws {
        let entries = BatchEntries(list: list, output: output)
        do {
            try await processor.loader.forEach(entries, in: lines, weight: \.line.bytes.count) { [self] entry, slot in
                // Lines that wait for their download keep only the variables of this closure.
                let line = StartedLine(entry, slot: slot)
                await processor.start(line)
                try await finish(line)
            }
        } catch is CancellationError where list.isStopped {
            // The lines have been answered as canceled.
        }
        if let error = entries.failure.withLock({ $0 }) { throw error }
    }

    private func finish(_ line: StartedLine) async throws(FileError) {
        let answer = try await processor.answer(line)
        defer { processor.finish(answer) }
        progress.add(answer.record)
        whenAnswered(answer.record)
        try await output.deliver(answer)
    }

    /// Lets active transfers finish, answers the lines that wait for one, and cancels the rest after the grace period.
    private func windDown(_ task: Task<Void, any Error>) async {
        let clock = ContinuousClock()
        let end = clock.now.advanced(by: grace)
        await processor.loader.coordinator.shutDown(gracePeriod: grace, startsWaiting: false)
        // Images that have been received are converted meanwhile.
        try? await clock.sleep(until: end)
        task.cancel()
    }

    /// The number of lines that wait for a robots.txt and are no callers of the loader.
    private var joinedLines: Int {
        get async { await processor.robots?.joinedLines ?? 0 }
    }

    /// Returns the current activity.
    func activity(_ shards: ShardOutput?) async -> BatchProgress.Activity {
        let activity = await processor.loader.coordinator.activity
        return BatchProgress.Activity(
            transfers: activity.running, waiting: max(0, activity.callers - activity.running + (await joinedLines)),
            rateLimited: activity.rateLimited, backingOff: activity.backingOff, open: lines.openCount,
            openShards: shards?.openCount ?? 0, read: await list.count, complete: shards?.completeLineCount ?? 0,
            readPart: await list.progress)
    }
}

/// The entries of a list that are answered, up to an error: the lines before it are answered in any case.
private final class BatchEntries: AsyncSequence, Sendable {
    private let list: BatchList
    private let output: any BatchOutput
    /// The error that has ended the list.
    let failure = Locked<(any Error)?>(nil)

    init(list: BatchList, output: any BatchOutput) {
        (self.list, self.output) = (list, output)
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(entries: self) }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let entries: BatchEntries

        mutating func next() async -> ListEntry? {
            do {
                return try await entries.next()
            } catch {
                entries.failure.withLock { $0 = error }
                return nil
            }
        }
    }

    private func next() async throws -> ListEntry? {
        while var entry = try await list.next() {
            if try await output.takes(&entry) { return entry }
        }
        if !Task.isCancelled, !list.isStopped { try await output.endList() }
        return nil
    }
}
