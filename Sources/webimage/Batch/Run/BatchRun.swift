import AsyncWebImage
import Threading
import WebimageConsole

/// Reads a list, answers its lines, and delivers the answers.
final class BatchRun: Sendable {
    private let list: BatchList
    private let processor: LineProcessor
    private let output: any BatchOutput
    private let window: LineWindow
    private let progress: BatchProgress
    private let lines: OpenLines
    /// The time for which active transfers continue after an interruption.
    private let grace: Duration
    /// The action for each answer, before it is delivered.
    private let whenAnswered: @Sendable (BatchRecord) -> Void
    private let state = Locked(State())

    private struct State {
        var failure: (any Error)?
        var reader: Task<Void, any Error>?
    }

    init(
        list: BatchList, processor: LineProcessor, output: any BatchOutput, window: LineWindow,
        progress: BatchProgress, workers: ThreadPool, grace: Duration,
        whenAnswered: @escaping @Sendable (BatchRecord) -> Void = { _ in }
    ) {
        self.list = list
        self.processor = processor
        self.output = output
        self.window = window
        self.progress = progress
        lines = OpenLines(on: workers)
        self.grace = grace
        self.whenAnswered = whenAnswered
    }

    /// Ends the run early because nothing can be delivered anymore.
    func fail(_ error: any Error) {
        let isFirst = state.withLock { state in
            defer { state.failure = state.failure ?? error }
            return state.failure == nil
        }
        guard isFirst else { return }
        state.withLock { $0.reader }?.cancel()
        window.close()
        processor.room.abandon()
        processor.places.abandon()
        output.abandon()
        lines.cancelAll()
    }

    /// Answers all lines.
    ///
    /// If the task is canceled, no further line is read, active transfers have the grace period to finish, and the
    /// remaining lines are answered as canceled. Throws the error that ended the run.
    func run() async throws {
        let task = Task { try await readAll() }
        let hasFailed = state.withLock { state in
            state.reader = task
            return state.failure != nil
        }
        if hasFailed { task.cancel() }
        let result = await withTaskCancellationHandler {
            let result = await task.result
            // Every line that was read is answered in any case.
            await lines.finish()
            return result
        } onCancel: {
            task.cancel()
            window.close()
            Task { await windDown() }
        }
        if let failure = state.withLock({ $0.failure }) {
            output.discard()
            throw failure
        }
        // If the list cannot be read to its end, the output must not look complete.
        try await output.finish(progress.statistics, isComplete: (try? result.get()) != nil)
        try result.get()
    }

    private func readAll() async throws {
        while await window.enter() {
            guard var entry = try await list.next() else {
                window.leave()
                if !Task.isCancelled { try await output.endList() }
                return
            }
            window.add(bytes: entry.line.bytes.count)
            if try await output.takes(&entry) {
                start(StartedLine(entry))
            } else {
                window.leave(bytes: entry.line.bytes.count)
            }
        }
    }

    private func start(_ line: sending StartedLine) {
        lines.start { [self] in
            // Lines that wait for their download keep only the variables of this closure.
            await processor.start(line)
            await finish(line)
        }
    }

    private func finish(_ line: StartedLine) async {
        do throws(FileError) {
            let answer = try await processor.answer(line)
            progress.add(answer.record)
            whenAnswered(answer.record)
            try await output.deliver(answer)
        } catch {
            window.leave(bytes: line.entry.line.bytes.count)
            fail(error)
        }
    }

    /// Lets active transfers finish, and cancels the others.
    private func windDown() async {
        let coordinator = processor.loader.coordinator
        await coordinator.suspend()
        let clock = ContinuousClock()
        let end = clock.now.advanced(by: grace)
        while clock.now < end, lines.count > 0 {
            let activity = await coordinator.activity
            // The others only wait for a transfer.
            if activity.running == 0, lines.count <= activity.callers + (await joinedLines) { break }
            try? await clock.sleep(for: .milliseconds(20))
        }
        lines.cancelAll()
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
            rateLimited: activity.rateLimited, backingOff: activity.backingOff, open: window.open,
            openShards: shards?.openCount ?? 0, read: await list.count, complete: shards?.completeLineCount ?? 0,
            readPart: await list.progress)
    }
}
